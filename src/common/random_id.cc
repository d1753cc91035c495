// SPDX-License-Identifier: Apache-2.0
#include "common/random_id.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace dormouse {

std::string RandomId(std::size_t characters) {
  static constexpr char kDigits[] = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string id(characters, '\0');
  std::size_t filled = 0;
  while (filled < id.size()) {
    const ssize_t got = ::getrandom(id.data() + filled, id.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    // Without randomness there are no secrets: nothing sensible is left to do.
    if (got <= 0) std::abort();
    filled += static_cast<std::size_t>(got);
  }
  for (char& c : id) c = kDigits[static_cast<unsigned char>(c) & 31u];
  return id;
}

}  // namespace dormouse
