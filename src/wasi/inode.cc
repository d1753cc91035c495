// SPDX-License-Identifier: Apache-2.0
#include "wasi/inode.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace dormouse::wasi {
namespace {

// Positive as a 32-bit long, which is what telldir gives a wasm32 guest.
constexpr std::uint32_t kMaxCookie = 0x7fff'ffff;

std::uint32_t CookieOf(std::string_view name) {
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size()) >> 33);
  return std::max(hash, Directory::kFirstCookie);
}

}  // namespace

std::uint32_t Directory::FreeCookie(std::string_view name) const {
  std::uint32_t cookie = CookieOf(name);
  // Far more cookies than entries: the search ends.
  auto taken = by_cookie_.lower_bound(cookie);
  while (taken != by_cookie_.end() && taken->first == cookie) {
    if (cookie == kMaxCookie) {
      cookie = kFirstCookie;
      taken = by_cookie_.lower_bound(cookie);
    } else {
      ++cookie;
      ++taken;
    }
  }
  return cookie;
}

DirectoryEntry* Directory::Insert(std::string_view name, InodePtr inode, Inode* parent) {
  const std::uint32_t cookie = FreeCookie(name);
  DirectoryEntry* const entry =
      &by_cookie_
           .emplace(cookie, DirectoryEntry{std::string(name), std::move(inode), parent, cookie})
           .first->second;
  by_name_.emplace(entry->name, entry);
  return entry;
}

void Directory::Erase(DirectoryEntry* entry) {
  by_name_.erase(entry->name);
  by_cookie_.erase(entry->cookie);
}

const DirectoryEntry* Directory::After(std::uint64_t cookie) const {
  if (cookie >= kMaxCookie) return nullptr;
  const auto found = by_cookie_.upper_bound(static_cast<std::uint32_t>(cookie));
  return found == by_cookie_.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::string, std::uint32_t>> Directory::DisplacedCookies() const {
  std::vector<std::pair<std::string, std::uint32_t>> displaced;
  for (const auto& [cookie, entry] : by_cookie_) {
    if (cookie != CookieOf(entry.name)) displaced.emplace_back(entry.name, cookie);
  }
  return displaced;
}

void Directory::SetCookies(const std::vector<std::pair<std::string, std::uint32_t>>& cookies) {
  std::vector<decltype(by_cookie_)::node_type> moved;
  const auto take = [&](std::uint32_t cookie) {
    auto node = by_cookie_.extract(cookie);
    if (!node.empty()) moved.push_back(std::move(node));
  };
  std::unordered_map<std::string_view, std::uint32_t> wanted;
  for (const auto& [name, cookie] : cookies) {
    if (cookie < kFirstCookie || cookie > kMaxCookie) continue;
    if (const DirectoryEntry* const entry = Find(name); entry != nullptr) {
      wanted.emplace(entry->name, cookie);
      take(entry->cookie);
    }
    take(cookie);
  }
  const auto put = [&](auto& node, std::uint32_t cookie) {
    node.key() = cookie;
    node.mapped().cookie = cookie;
    return by_cookie_.insert(std::move(node)).inserted;
  };
  for (auto& node : moved) {
    const auto place = wanted.find(node.mapped().name);
    if (place != wanted.end() && !by_cookie_.contains(place->second)) put(node, place->second);
  }
  for (auto& node : moved) {
    if (!node.empty()) put(node, FreeCookie(node.mapped().name));
  }
}

std::uint64_t Inode::link_count() const {
  if (unlinked()) return 0;
  if (is_directory()) return 2 + directory->subdirectories;
  return 1 + more_entries.size();
}

std::uint64_t Inode::size() const {
  switch (type) {
    case FileType::kRegular:
      return content->size();
    case FileType::kSymlink:
      return target.size();
    case FileType::kDirectory:
      return 4096;
    case FileType::kDevice:
      return 0;
  }
  return 0;
}

}  // namespace dormouse::wasi
