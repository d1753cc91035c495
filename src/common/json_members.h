// SPDX-License-Identifier: Apache-2.0
// Looks at a JSON object without parsing its values: parsing costs memory, and numbers their digits.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace dormouse {

// Key (between its quotes, escapes as they are) and value, as written, without blanks around it. Views into the text.
using JsonMembers = std::vector<std::pair<std::string_view, std::string_view>>;

// The members of the object that `text` is, in order; none of any other value. Of text that is not valid JSON some
// members may be missing or wrong, but none lies outside of it.
JsonMembers JsonMembersOf(std::string_view text);

// The last value of that key, which is the one that counts when the object is parsed; empty if there is none.
std::string_view JsonMember(const JsonMembers& members, std::string_view key);

}  // namespace dormouse
