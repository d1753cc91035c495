// SPDX-License-Identifier: Apache-2.0
// Every message lists its fields once, in Fields(); writing and reading both follow that list.
#include "protocol/messages.h"

#include <type_traits>

#include "common/byte_io.h"

namespace dormouse::protocol {
namespace {

// The least a list item can occupy: what CanHold checks before a list is allocated.
constexpr std::size_t kLeastItemBytes = 4;

class Writer {
 public:
  void Field(const std::uint8_t& value) { out_.U8(value); }
  void Field(const std::uint16_t& value) { out_.U16(value); }
  void Field(const std::uint32_t& value) { out_.U32(value); }
  void Field(const std::uint64_t& value) { out_.U64(value); }
  void Field(const std::int64_t& value) { out_.I64(value); }
  void Field(const std::string& value) { out_.String(value); }
  void Field(const std::string_view& value) { out_.String(value); }
  void Field(const Sha256Digest& value) { out_.Raw(value.View()); }
  template <typename T>
  void Field(const std::vector<T>& items);
  std::string Take() && { return std::move(out_).bytes(); }

 private:
  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(std::string_view payload) : in_(payload) {}
  void Field(std::uint8_t& value) { value = in_.U8(); }
  void Field(std::uint16_t& value) { value = in_.U16(); }
  void Field(std::uint32_t& value) { value = in_.U32(); }
  void Field(std::uint64_t& value) { value = in_.U64(); }
  void Field(std::int64_t& value) { value = in_.I64(); }
  void Field(std::string& value) { value = std::string(in_.String()); }
  void Field(std::string_view& value) { value = in_.String(); }
  void Field(Sha256Digest& value) {
    if (auto digest = Sha256Digest::FromBytes(in_.Raw(32))) value = *digest;
  }
  template <typename T>
  void Field(std::vector<T>& items);
  bool Whole() const { return in_.AtEnd(); }
  ByteReader& in() { return in_; }

 private:
  ByteReader in_;
};

template <typename Codec, typename M>
void Fields(Codec& codec, M& m);

template <typename T>
constexpr bool kIsPlain = std::is_same_v<std::remove_const_t<T>, std::string>;

template <typename T>
void Writer::Field(const std::vector<T>& items) {
  out_.U32(static_cast<std::uint32_t>(items.size()));
  for (const T& item : items) {
    if constexpr (kIsPlain<T>) {
      Field(item);
    } else {
      Fields(*this, item);
    }
  }
}

template <typename T>
void Reader::Field(std::vector<T>& items) {
  const std::uint32_t count = in_.U32();
  if (!in_.CanHold(count, kLeastItemBytes)) return;
  for (std::uint32_t i = 0; i < count && in_.ok(); ++i) {
    items.emplace_back();
    if constexpr (kIsPlain<T>) {
      Field(items.back());
    } else {
      Fields(*this, items.back());
    }
  }
}

// One overload per message; `M` is const when writing.
template <typename M, typename T>
concept Is = std::is_same_v<std::remove_const_t<M>, T>;

template <typename Codec, typename M>
void Fields(Codec& codec, M& m) {
  auto all = [&codec](auto&... fields) { (codec.Field(fields), ...); };
  if constexpr (Is<M, SegmentSource>) {
    all(m.bytes, m.size_bytes, m.checksum);
  } else if constexpr (Is<M, Start>) {
    all(m.memory_bytes, m.stop_grace_ms, m.reseed, m.segments);
  } else if constexpr (Is<M, Started>) {
    all(m.ok, m.error_code, m.message, m.resume_us, m.resident_bytes);
  } else if constexpr (Is<M, Entry>) {
    all(m.path, m.kind, m.digest, m.size_bytes, m.mode, m.mtime_ns, m.target);
  } else if constexpr (Is<M, Manifest>) {
    all(m.first, m.full, m.upserts, m.deletions);
  } else if constexpr (Is<M, Run>) {
    all(m.request_json, m.stdin_bytes, m.timeout_us, m.fuel_us, m.memory_bytes, m.compact,
        m.previous_committed, m.keep);
  } else if constexpr (Is<M, Interrupt>) {
    all(m.reason);
  } else if constexpr (Is<M, DescriptorReply>) {
    all(m.ok);
  } else if constexpr (Is<M, Output::Piece>) {
    all(m.stream, m.bytes);
  } else if constexpr (Is<M, Output>) {
    all(m.pieces);
  } else if constexpr (Is<M, Emit>) {
    all(m.kind, m.json);
  } else if constexpr (Is<M, NeedContent>) {
    all(m.digest);
  } else if constexpr (Is<M, Change>) {
    Fields(codec, m.entry);
    all(m.content, m.bytes, m.file);
  } else if constexpr (Is<M, Changes>) {
    all(m.changes, m.deletions);
  } else if constexpr (Is<M, Done>) {
    all(m.status, m.state, m.has_exit_code, m.exit_code, m.message, m.fuel_consumed, m.cpu_us,
        m.wall_us, m.memory_bytes, m.peak_memory_bytes, m.resident_bytes, m.has_snapshot,
        m.snapshot_base, m.snapshot_in_file, m.snapshot_file, m.snapshot_bytes, m.snapshot_size,
        m.snapshot_checksum, m.snapshot_pages, m.live_pages, m.snapshot_error, m.snapshot_us);
  } else if constexpr (Is<M, SetEngines::Engine>) {
    all(m.build_id, m.directory, m.spares);
  } else if constexpr (Is<M, SetEngines>) {
    all(m.engines);
  } else if constexpr (Is<M, EnginesSet>) {
    all(m.ok, m.message);
  } else if constexpr (Is<M, Fork>) {
    all(m.build_id);
  } else if constexpr (Is<M, Forked>) {
    all(m.ok, m.pid, m.message);
  } else {
    static_assert(sizeof(M) == 0, "a message without fields");
  }
}

template <typename M>
std::string EncodeMessage(const M& message) {
  Writer writer;
  Fields(writer, message);
  return std::move(writer).Take();
}

template <typename M>
Result<M> DecodeMessage(std::string_view payload, std::string_view name) {
  Reader reader(payload);
  M message;
  Fields(reader, message);
  if (!reader.Whole()) {
    return Error(ErrorCode::kInternal, "a malformed " + std::string(name) + " message of " +
                                           std::to_string(payload.size()) + " bytes");
  }
  return message;
}

}  // namespace

#define DORMOUSE_MESSAGE(Name)                                     \
  std::string Name::Encode() const { return EncodeMessage(*this); } \
  Result<Name> Name::Decode(std::string_view payload) {            \
    return DecodeMessage<Name>(payload, #Name);                    \
  }

DORMOUSE_MESSAGE(Start)
DORMOUSE_MESSAGE(Started)
DORMOUSE_MESSAGE(Manifest)
DORMOUSE_MESSAGE(Run)
DORMOUSE_MESSAGE(Interrupt)
DORMOUSE_MESSAGE(DescriptorReply)
DORMOUSE_MESSAGE(Output)
DORMOUSE_MESSAGE(Emit)
DORMOUSE_MESSAGE(NeedContent)
DORMOUSE_MESSAGE(Changes)
DORMOUSE_MESSAGE(Done)
DORMOUSE_MESSAGE(SetEngines)
DORMOUSE_MESSAGE(EnginesSet)
DORMOUSE_MESSAGE(Fork)
DORMOUSE_MESSAGE(Forked)

#undef DORMOUSE_MESSAGE

}  // namespace dormouse::protocol
