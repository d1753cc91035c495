// SPDX-License-Identifier: Apache-2.0
// Draft: changes to a tree that are not yet made. What is asked of it is answered as if they were.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workspace/tree.h"

namespace dormouse::workspace {

class Draft {
 public:
  // Borrows `base`, which must outlive the draft and must not change.
  explicit Draft(const Tree& base) : base_(base), totals_(base.totals()) {}

  // The entry, or nothing. The root is found as a directory.
  const TreeEntry* Find(std::string_view path) const;
  bool HasChildren(std::string_view path) const;
  // Everything below, in byte-wise order.
  std::vector<TreeEntry> Descendants(std::string_view path) const;
  // Directly below, in byte-wise order.
  std::vector<TreeEntry> Children(std::string_view path) const;

  // Requires: the parent is a directory; if a directory is replaced by something else, it has no children.
  void Put(TreeEntry entry);
  // Requires: no children. Unknown paths are ignored.
  void Erase(const std::string& path);
  // With everything below.
  void EraseAll(const std::string& path);

  const TreeTotals& totals() const { return totals_; }
  // What makes the base become this. Deletions have children before parents, upserts parents before children.
  store::TreeChange Change(std::string sandbox_id) const;

 private:
  // Calls `visit` for each entry with a path in [first, last) until it returns false.
  template <typename Visit>
  void VisitRange(std::string_view first, std::string_view last, Visit visit) const;

  const Tree& base_;
  std::map<std::string, std::optional<TreeEntry>, std::less<>> changes_;
  TreeTotals totals_;
};

}  // namespace dormouse::workspace
