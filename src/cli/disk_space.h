// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace dormouse::cli {

// Where a data directory lies and how much room is left there, as a clause of a sentence: which
// disk is full is the first thing to know when something could not be saved.
std::string DescribeDisk(const std::filesystem::path& data_directory);

}  // namespace dormouse::cli
