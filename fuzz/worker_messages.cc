// SPDX-License-Identifier: Apache-2.0
// What a worker sends is hostile: each message is decoded from any bytes, and nothing more than a Result comes of it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/messages.h"

namespace protocol = dormouse::protocol;

// A message that decodes must decode again from its own encoding.
template <typename Message>
void RoundTrip(std::string_view payload) {
  const auto message = Message::Decode(payload);
  if (!message.ok()) return;
  if (!Message::Decode(message->Encode()).ok()) __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: RoundTrip<protocol::Started>(payload); break;
    case 1: RoundTrip<protocol::Output>(payload); break;
    case 2: RoundTrip<protocol::Emit>(payload); break;
    case 3: RoundTrip<protocol::NeedContent>(payload); break;
    case 4: RoundTrip<protocol::Changes>(payload); break;
    case 5: RoundTrip<protocol::Done>(payload); break;
    case 6: RoundTrip<protocol::Forked>(payload); break;
    default: RoundTrip<protocol::Manifest>(payload); break;
  }
  return 0;
}
