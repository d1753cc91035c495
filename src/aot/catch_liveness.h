// SPDX-License-Identifier: Apache-2.0
// Which locals an exception must not lose.
#pragma once

#include <vector>

#include "wabt/ir.h"

namespace dormouse::aot {

// Whether `list` has a try somewhere inside.
bool ContainsTry(const wabt::ExprList& list);

// For each local of `function`, parameters first: whether its value at the begin of some catch may
// be read later.
std::vector<bool> LocalsLiveAtCatches(const wabt::Func& function);

}  // namespace dormouse::aot
