// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

// There are no persons here: whoever runs the server made the first key.
constexpr std::string_view kOperator = "usr_operator";
constexpr std::string_view kPricing = "self-hosted";
constexpr double kSecondsPerCredit = 1000;

void WriteNames(JsonWriter& json, std::string_view name, const std::vector<std::string>& names) {
  json.Key(name).BeginArray();
  for (const std::string& item : names) json.Value(item);
  json.EndArray();
}

}  // namespace

void Write(JsonWriter& json, const service::Project& project) {
  json.BeginObject().Field("id", project.id).Field("orgId", project.org_id);
  json.Field("name", project.name).Field("createdAt", FormatTimestamp(project.created_at));
  json.EndObject();
}

void Write(JsonWriter& json, const service::ApiKey& key) {
  json.BeginObject().Field("id", key.id).Field("orgId", key.org_id).Field("name", key.name);
  json.Field("prefix", key.prefix).Field("last4", key.last4);
  if (!key.project_ids.empty()) WriteNames(json, "projectIds", key.project_ids);
  WriteNames(json, "scopes", key.scopes);
  json.Field("createdByUserId", kOperator);
  if (!key.created_by_key_id.empty()) json.Field("createdByKeyId", key.created_by_key_id);
  json.Field("createdAt", FormatTimestamp(key.created_at));
  if (key.revoked_at) json.Field("revokedAt", FormatTimestamp(*key.revoked_at));
  if (key.last_used_at) json.Field("lastUsedAt", FormatTimestamp(*key.last_used_at));
  json.EndObject();
}

void Write(JsonWriter& json, const service::Usage& usage) {
  json.BeginObject().Key("period").BeginObject();
  json.Field("start", FormatTimestamp(usage.period_start));
  json.Field("end", FormatTimestamp(usage.period_end));
  json.Field("resetAt", FormatTimestamp(usage.period_end)).EndObject();
  json.Field("pricingVersion", kPricing).Field("computeUnitSecondsPerCredit", kSecondsPerCredit);
  json.Field("currencyPerCredit", 0);
  json.Key("computeUnitSeconds").BeginObject();
  json.Field("used", usage.compute_unit_seconds).EndObject();
  json.Key("credits").BeginObject();
  json.Field("used", usage.compute_unit_seconds / kSecondsPerCredit).EndObject();
  json.Key("quotas").BeginObject();
  for (const service::Quota& quota : usage.quotas) {
    json.Key(quota.name).BeginObject().Field("limit", quota.limit);
    if (quota.current) {
      json.Field("current", *quota.current);
      json.Field("remaining", quota.limit - std::min(quota.limit, *quota.current));
    }
    json.EndObject();
  }
  json.EndObject();
  json.Key("events").BeginArray();
  for (const service::UsageEvent& event : usage.events) {
    json.BeginObject().Field("amount", event.amount);
    json.Field("createdAt", FormatTimestamp(event.day)).Field("metric", event.metric);
    json.Field("orgId", usage.org_id).Field("projectId", event.project_id).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace dormouse::http
