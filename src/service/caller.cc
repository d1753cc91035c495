// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/types.h"

namespace dormouse::service {

bool Caller::Has(std::string_view scope) const {
  if (!grants || grants->all_scopes) return true;
  return std::find(grants->scopes.begin(), grants->scopes.end(), scope) != grants->scopes.end();
}

bool Caller::MaySee(std::string_view project_id) const {
  if (!IsRestricted()) return true;
  const auto& ids = grants->project_ids;
  return std::find(ids.begin(), ids.end(), project_id) != ids.end();
}

}  // namespace dormouse::service
