// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Progress, ALineHasBarPercentageBytesAndRate) {
  EXPECT_EQ(ProgressLine("uploading", 25 * kMiB, 100 * kMiB, 0.5, 80),
            "uploading  [######...................]   25%  25.0 MiB of 100.0 MiB  50.0 MiB/s");
}

TEST(Progress, WithoutATotalThereIsNoPercentage) {
  EXPECT_EQ(ProgressLine("uploading", 3 * kMiB, std::nullopt, 2, 80),
            "uploading  3.0 MiB  1.5 MiB/s");
  EXPECT_EQ(ProgressLine("uploading", 0, 0, 2, 80), "uploading  0 B  0 B/s");
}

TEST(Progress, NoLineFillsTheTerminal) {
  for (std::size_t columns = 0; columns < 200; ++columns) {
    const std::string line = ProgressLine("uploading", 99 * kMiB, 100 * kMiB, 3, columns);
    EXPECT_LT(line.size(), std::max<std::size_t>(columns, 1)) << line;
    EXPECT_EQ(line.find('[') == std::string::npos, line.find(']') == std::string::npos) << line;
  }
}

TEST(Progress, MoreThanAllIsAll) {
  EXPECT_NE(ProgressLine("packing", 3 * kMiB, kMiB, 1, 80).find("100%"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::cli
