// SPDX-License-Identifier: Apache-2.0
// When a context's snapshot is written as one new base instead of another segment on top.
#pragma once

#include <vector>

#include "store/rows.h"

namespace dormouse::service {

// Whether what lies on top of the base outweighs it, so that the cost of a new base is spread over as many bytes as it
// has, or there are so many segments that resuming suffers.
bool WantsCompaction(const std::vector<store::SegmentRef>& segments);

}  // namespace dormouse::service
