// SPDX-License-Identifier: Apache-2.0
// The unit of snapshots: a page of 4 KiB of linear memory, named by its index from the memory's base.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dormouse::snapshot {

inline constexpr std::size_t kPageBytes = 4096;
using PageIndex = std::uint32_t;  // below 2^20: linear memory is at most 4 GiB

}  // namespace dormouse::snapshot
