// SPDX-License-Identifier: Apache-2.0
// Who may do what, and what was used: projects, keys, usage, answers to repeated requests.
#include <algorithm>
#include <chrono>

#include "common/utf8.h"
#include "service/ids.h"
#include "service/scopes.h"
#include "service/service_impl.h"
#include "service/usage.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

constexpr std::size_t kNameCharacters = 128;
constexpr std::size_t kMaxProjects = 10'000;
constexpr std::size_t kMaxKeys = 10'000;  // revoked ones too
constexpr std::size_t kMaxProjectsOfKey = 100;
constexpr std::size_t kMaxUsageEvents = 1'000;
constexpr std::string_view kMakesKeys = "api_key:create";
constexpr std::int64_t kKeyUseIntervalMs = 60'000;

Result<void> CheckName(std::string_view name) {
  if (name.empty()) return InvalidField("name", "must not be empty");
  if (!IsValidUtf8(name) || CountCharacters(name) > kNameCharacters) {
    return InvalidField("name", "must be at most 128 characters of UTF-8");
  }
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return InvalidField("name", "holds a control character");
    }
  }
  return {};
}

Error NoSuchKey() { return Error(ErrorCode::kNotFound, "there is no such API key"); }

bool CanMakeKeys(const store::ApiKeyRow& row) {
  if (row.revoked_ms || !row.project_ids.empty()) return false;
  return row.all_scopes ||
         std::find(row.scopes.begin(), row.scopes.end(), kMakesKeys) != row.scopes.end();
}

// Whether a caller may know of a key.
bool MaySeeKey(const Caller& caller, const store::ApiKeyRow& row) {
  if (!caller.IsRestricted() || caller.key_id == row.id) return true;
  return !row.project_ids.empty() &&
         std::all_of(row.project_ids.begin(), row.project_ids.end(),
                     [&](const std::string& id) { return caller.MaySee(id); });
}

ApiKey KeyOf(const store::ApiKeyRow& row, const std::string& org_id) {
  ApiKey key;
  key.id = row.id;
  key.org_id = org_id;
  key.name = row.name;
  key.prefix = PrefixOf(row);
  key.last4 = row.last4;
  key.project_ids = row.project_ids;
  key.scopes = row.scopes;
  if (row.all_scopes) key.scopes.assign(AllScopes().begin(), AllScopes().end());
  key.created_by_key_id = row.created_by;
  key.created_at = TimeOf(row.created_ms);
  if (row.revoked_ms) key.revoked_at = TimeOf(*row.revoked_ms);
  if (row.last_used_ms) key.last_used_at = TimeOf(*row.last_used_ms);
  return key;
}

Project ProjectOf(const store::ProjectRow& row) {
  return {row.id, row.org_id, row.name, TimeOf(row.created_ms)};
}

// A page of `items`, which are newest first; the cursor is the id of the last one shown.
template <typename Item>
Paged<Item> PageOf(std::vector<Item> items, const Page& page) {
  auto first = items.begin();
  if (!page.cursor.empty()) {
    first = std::find_if(items.begin(), items.end(),
                         [&](const Item& item) { return item.id == page.cursor; });
    if (first != items.end()) ++first;
  }
  Paged<Item> result;
  for (; first != items.end() && result.items.size() < page.limit; ++first) {
    result.items.push_back(std::move(*first));
  }
  if (first != items.end()) result.next_cursor = result.items.back().id;
  return result;
}

}  // namespace

ServiceImpl::Task<void> ServiceImpl::CheckAccess(Caller caller, std::string sandbox_id) {
  if (!caller.IsRestricted()) co_return Result<void>();
  DORMOUSE_CO_ASSIGN(const SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  if (caller.MaySee(sandbox->project_id)) co_return Result<void>();
  co_return Error(ErrorCode::kNotFound, "there is no such sandbox");
}

ServiceImpl::Task<void> ServiceImpl::CheckArtifactAccess(Caller caller, std::string artifact_id) {
  if (!caller.IsRestricted()) co_return Result<void>();
  DORMOUSE_CO_ASSIGN(const store::ArtifactRow row, co_await FindArtifact(std::move(artifact_id)));
  if (caller.MaySee(row.project_id)) co_return Result<void>();
  co_return Error(ErrorCode::kNotFound, "there is no such artifact");
}

Result<std::string> ServiceImpl::ChooseProject(const Caller& caller,
                                               const std::string& project_id) const {
  std::string chosen = project_id;
  if (chosen.empty()) {
    const bool default_is_open = caller.MaySee(organization_.default_project_id);
    chosen = default_is_open ? organization_.default_project_id : caller.grants->project_ids.front();
  }
  const std::lock_guard lock(mutex_);
  if (caller.MaySee(chosen) && projects_.contains(chosen)) return chosen;
  return Error(ErrorCode::kNotFound, "there is no such project", {{"field", "projectId"}});
}

ServiceImpl::Task<Project> ServiceImpl::CreateProject(std::string name, Answerer<Project> answer) {
  DORMOUSE_CO_TRY(CheckName(name));
  store::ProjectRow row;
  row.id = NewProjectId();
  row.org_id = organization_.id;
  row.name = std::move(name);
  row.created_ms = NowMs();
  co_return co_await Detach(CreateProjectNow(std::move(row), std::move(answer)));
}

ServiceImpl::Task<Project> ServiceImpl::CreateProjectNow(store::ProjectRow row,
                                                         Answerer<Project> answer) {
  {
    const std::lock_guard lock(mutex_);
    if (projects_.size() >= kMaxProjects) {
      co_return Error(ErrorCode::kQuotaExceeded, "there are too many projects",
                      {{"limit", std::to_string(kMaxProjects)}});
    }
  }
  const Project project = ProjectOf(row);
  store::Transaction transaction;
  transaction.projects.push_back(row);
  if (answer) answers_.AddTo(transaction, answer(project), NowMs());
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  const std::lock_guard lock(mutex_);
  projects_.emplace(row.id, std::move(row));
  co_return project;
}

ServiceImpl::Task<Paged<Project>> ServiceImpl::ListProjects(Caller caller, Page page) {
  DORMOUSE_CO_TRY(CheckPage(page));
  std::vector<Project> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, row] : projects_) {
      if (caller.MaySee(id)) all.push_back(ProjectOf(row));
    }
  }
  std::sort(all.begin(), all.end(), [](const Project& a, const Project& b) {
    return a.created_at != b.created_at ? a.created_at > b.created_at : a.id > b.id;
  });
  co_return PageOf(std::move(all), page);
}

Result<void> ServiceImpl::CheckGrants(const CreateApiKey& request) const {
  for (const std::string& scope : request.scopes) {
    if (request.caller.Has(scope)) continue;
    return Error(ErrorCode::kForbidden, "this API key cannot give away a scope it does not have",
                 {{"field", "scopes"}, {"scope", scope}});
  }
  if (request.project_ids.size() > kMaxProjectsOfKey) {
    return InvalidField("projectIds", "names more than 100 projects");
  }
  if (request.caller.IsRestricted() && request.project_ids.empty()) {
    return Error(ErrorCode::kForbidden,
                 "this API key is restricted to projects: name some of them in projectIds",
                 {{"field", "projectIds"}});
  }
  for (const std::string& id : request.project_ids) {
    const std::lock_guard lock(mutex_);
    if (request.caller.MaySee(id) && projects_.contains(id)) continue;
    return Error(ErrorCode::kNotFound, "there is no such project", {{"field", "projectIds"}});
  }
  return {};
}

ServiceImpl::Task<NewApiKey> ServiceImpl::Create(CreateApiKey request) {
  DORMOUSE_CO_TRY(CheckName(request.name));
  DORMOUSE_CO_ASSIGN(request.scopes, CheckScopes(request.scopes));
  DORMOUSE_CO_TRY(CheckGrants(request));
  co_return co_await Detach(CreateKeyNow(std::move(request)));
}

ServiceImpl::Task<NewApiKey> ServiceImpl::CreateKeyNow(CreateApiKey request) {
  const FifoMutex::Guard turn = co_await keys_lock_.Lock();
  store::ApiKeyRow row;
  row.name = std::move(request.name);
  row.scopes = std::move(request.scopes);
  row.project_ids = std::move(request.project_ids);
  row.created_by = request.caller.key_id;
  row.created_ms = NowMs();
  MintedKey minted = MintKey(std::move(row));
  store::Transaction transaction;
  const std::vector<store::ApiKeyRow> all = keys_->All();
  if (all.size() >= kMaxKeys) {
    // The oldest that nobody can use any more makes room.
    const auto oldest = std::find_if(all.rbegin(), all.rend(), [](const store::ApiKeyRow& key) {
      return key.revoked_ms.has_value();
    });
    if (oldest == all.rend()) {
      co_return Error(ErrorCode::kQuotaExceeded, "there are too many API keys: revoke some",
                      {{"limit", std::to_string(kMaxKeys)}});
    }
    transaction.dropped_api_keys.push_back(oldest->id);
  }
  transaction.api_keys.push_back(minted.row);
  const std::vector<std::string> dropped = transaction.dropped_api_keys;
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  for (const std::string& id : dropped) keys_->Forget(id);
  keys_->Put(minted.row);
  co_return NewApiKey{KeyOf(minted.row, organization_.id), std::move(minted.secret)};
}

ServiceImpl::Task<Paged<ApiKey>> ServiceImpl::ListApiKeys(Caller caller, Page page) {
  DORMOUSE_CO_TRY(CheckPage(page));
  std::vector<ApiKey> all;
  for (const store::ApiKeyRow& row : keys_->All()) {
    if (MaySeeKey(caller, row)) all.push_back(KeyOf(row, organization_.id));
  }
  co_return PageOf(std::move(all), page);
}

ServiceImpl::Task<ApiKey> ServiceImpl::GetApiKey(Caller caller, std::string key_id) {
  const std::optional<store::ApiKeyRow> row = keys_->Find(key_id);
  if (!row || !MaySeeKey(caller, *row)) co_return NoSuchKey();
  co_return KeyOf(*row, organization_.id);
}

ServiceImpl::Task<ApiKey> ServiceImpl::RevokeApiKey(Caller caller, std::string key_id) {
  const std::optional<store::ApiKeyRow> row = keys_->Find(key_id);
  if (!row || !MaySeeKey(caller, *row)) co_return NoSuchKey();
  co_return co_await Detach(RevokeKeyNow(std::move(key_id)));
}

ServiceImpl::Task<ApiKey> ServiceImpl::RevokeKeyNow(std::string key_id) {
  const FifoMutex::Guard turn = co_await keys_lock_.Lock();
  std::optional<store::ApiKeyRow> row = keys_->Find(key_id);
  if (!row) co_return NoSuchKey();
  if (row->revoked_ms) co_return KeyOf(*row, organization_.id);
  const std::vector<store::ApiKeyRow> all = keys_->All();
  if (CanMakeKeys(*row) && std::count_if(all.begin(), all.end(), CanMakeKeys) == 1) {
    co_return Error(ErrorCode::kConflict,
                    "this is the last key that can make keys: make another with the scope "
                    "api_key:create first");
  }
  row->revoked_ms = NowMs();
  store::Transaction transaction;
  transaction.api_keys.push_back(*row);
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  keys_->Put(*row);
  co_return KeyOf(*row, organization_.id);
}

ServiceImpl::Task<Usage> ServiceImpl::GetUsage(Caller caller) {
  using std::chrono::sys_days;
  const auto today = std::chrono::floor<std::chrono::days>(TimeOf(NowMs()));
  const std::chrono::year_month_day date(today);
  const std::chrono::year_month month(date.year(), date.month());
  Usage usage;
  usage.org_id = organization_.id;
  usage.quotas = QuotasFor(caller);
  usage.period_start = sys_days(month / 1);
  usage.period_end = sys_days((month + std::chrono::months(1)) / 1);
  const auto first_day = sys_days(month / 1).time_since_epoch().count();
  auto rows = co_await OnPool(pool_, [this, first_day] { return store_->ReadUsage(first_day); });
  if (!rows.ok()) co_return std::move(rows).error();
  for (store::UsageRow& row : *rows) {
    if (!caller.MaySee(row.project_id)) continue;
    const bool compute = row.metric == metric::kComputeSeconds;
    const double amount = static_cast<double>(row.amount) / (compute ? 1e3 : 1);
    if (compute) usage.compute_unit_seconds += amount;
    if (usage.events.size() == kMaxUsageEvents) continue;
    usage.events.push_back({std::move(row.project_id), std::move(row.metric), amount,
                            TimeOf(row.day * kDayMs)});
  }
  co_return usage;
}

std::vector<Quota> ServiceImpl::QuotasFor(const Caller& caller) const {
  std::vector<Quota> quotas;
  // Whoever sees some projects only is not told what is in the others.
  const auto add = [&](std::string name, std::uint64_t limit, std::uint64_t current) {
    Quota quota{std::move(name), limit, std::nullopt};
    if (!caller.IsRestricted()) quota.current = current;
    quotas.push_back(std::move(quota));
  };
  {
    const std::size_t keys = keys_->All().size();
    const std::lock_guard lock(mutex_);
    if (config_.active_sandboxes > 0) {
      add("active_sandboxes", config_.active_sandboxes, active_sandboxes_);
    }
    add("projects", kMaxProjects, projects_.size());
    add("api_keys", kMaxKeys, keys);
  }
  if (config_.requests_per_minute > 0) {
    quotas.push_back({"requests_per_minute", config_.requests_per_minute, std::nullopt});
  }
  quotas.push_back({"contexts_per_sandbox", config_.contexts_per_sandbox, std::nullopt});
  quotas.push_back({"workspace_bytes_per_sandbox", config_.workspace_bytes, std::nullopt});
  quotas.push_back({"workspace_files_per_sandbox", config_.workspace_files, std::nullopt});
  quotas.push_back({"artifact_bytes_per_sandbox", config_.artifact_sandbox_bytes, std::nullopt});
  return quotas;
}

ServiceImpl::Task<std::optional<StoredAnswer>> ServiceImpl::FindAnswer(Sha256Digest scope) {
  if (!answers_.MayHave(scope)) co_return std::optional<StoredAnswer>();
  auto found = co_await OnPool(pool_, [this, scope] { return store_->ReadAnswer(scope); });
  if (!found.ok()) co_return std::move(found).error();
  // The sweep comes later than the hour.
  if (*found && NowMs() - (*found)->completed_ms >= kAnswerLifetimeMs) found->reset();
  co_return std::move(*found);
}

ServiceImpl::Task<void> ServiceImpl::StoreAnswer(StoredAnswer answer) {
  store::Transaction transaction;
  answers_.AddTo(transaction, std::move(answer), NowMs());
  co_return co_await store_->Commit(std::move(transaction));
}

void ServiceImpl::ForgetOldUsage(store::Transaction& transaction) {
  const std::int64_t first_day = NowMs() / kDayMs - kUsageKeptDays;
  if (first_day <= usage_kept_from_) return;
  usage_kept_from_ = first_day;
  transaction.dropped_usage = first_day;
}

boost::asio::awaitable<void> ServiceImpl::KeepAccounts() {
  store::Transaction transaction;
  transaction.used_api_keys = keys_->TakeUses(NowMs(), stopping_ ? 0 : kKeyUseIntervalMs);
  transaction.dropped_answers = answers_.TakeExpired(NowMs(), 1'000);
  ForgetOldUsage(transaction);
  if (transaction.used_api_keys.empty() && transaction.dropped_answers.empty() &&
      !transaction.dropped_usage) {
    co_return;
  }
  (void)co_await store_->Commit(std::move(transaction));
}

}  // namespace dormouse::service
