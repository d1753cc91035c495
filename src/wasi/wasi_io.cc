// SPDX-License-Identifier: Apache-2.0
// The imports that move bytes: fd_read, fd_write, fd_pread, fd_pwrite.
#include <algorithm>
#include <cstring>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {


Errno ReadDevice(Wasi& wasi, const Inode& inode, std::span<std::byte> out, u64& got) {
  got = 0;
  switch (inode.device) {
    case Device::kNull:
      return Errno::kSuccess;
    case Device::kZero:
      if (!out.empty()) std::memset(out.data(), 0, out.size());
      got = out.size();
      return Errno::kSuccess;
    case Device::kRandom:
      if (!wasi.entropy().Fill(out)) return Errno::kIo;
      got = out.size();
      return Errno::kSuccess;
    case Device::kStdin:
      got = wasi.streams().ReadStdin(out);
      return Errno::kSuccess;
    case Device::kStdout:
    case Device::kStderr:
      return Errno::kBadFile;
  }
  return Errno::kIo;
}

Errno WriteDevice(Wasi& wasi, const Inode& inode, std::span<const std::byte> in, u64& put) {
  put = in.size();
  switch (inode.device) {
    case Device::kNull:
    case Device::kZero:
    case Device::kRandom:
      return Errno::kSuccess;
    case Device::kStdin:
      return Errno::kBadFile;
    case Device::kStdout:
    case Device::kStderr:
      return in.empty()
                 ? Errno::kSuccess
                 : wasi.streams().Write(inode.device == Device::kStdout ? OutputStream::kStdout
                                                                        : OutputStream::kStderr,
                                        in);
  }
  return Errno::kIo;
}

// Moves vector after vector until one is cut short. What was moved before an error counts.
template <typename Move>
Errno MoveVectors(Wasi& wasi, u32 vectors, u32 count, u64& total, Move&& move) {
  total = 0;
  for (u32 i = 0; i < count; ++i) {
    std::span<std::byte> bytes = VectorAt(wasi, vectors, i);
    bytes = bytes.first(std::min<u64>(bytes.size(), kMaxTransferBytes - total));
    if (bytes.empty()) continue;
    u64 moved = 0;
    const Errno error = move(bytes, moved);
    if (error != Errno::kSuccess) return total > 0 ? Errno::kSuccess : error;
    total += moved;
    if (moved < bytes.size()) break;
  }
  return Errno::kSuccess;
}

Errno CheckTransfer(Wasi& wasi, u32 vectors, u32 count, u32 result) {
  const Errno error = CheckVectors(wasi, vectors, count);
  if (error != Errno::kSuccess) return error;
  return wasi.memory().At(result, sizeof(u32)) != nullptr ? Errno::kSuccess : Errno::kFault;
}

Errno ReadInto(Wasi& wasi, OpenFile& file, u64 offset, u32 vectors, u32 count, u64& total) {
  Inode& inode = *file.inode;
  if (inode.is_directory()) return Errno::kIsDirectory;
  return MoveVectors(wasi, vectors, count, total, [&](std::span<std::byte> out, u64& got) {
    if (inode.type == FileType::kDevice) return ReadDevice(wasi, inode, out, got);
    const Errno error = wasi.files().Read(inode, offset, out, got);
    offset += got;
    return error;
  });
}

Errno WriteFrom(Wasi& wasi, OpenFile& file, u64 offset, u32 vectors, u32 count, u64& total) {
  Inode& inode = *file.inode;
  return MoveVectors(wasi, vectors, count, total, [&](std::span<std::byte> in, u64& put) {
    if (inode.type == FileType::kDevice) return WriteDevice(wasi, inode, in, put);
    const Errno error = wasi.files().Write(inode, offset, in, put);
    offset += put;
    return error;
  });
}

Errno GetReadable(Wasi& wasi, u32 fd, OpenFile*& file) {
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return error;
  return CanRead(*file) ? Errno::kSuccess : Errno::kBadFile;
}

Errno GetWritable(Wasi& wasi, u32 fd, OpenFile*& file) {
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return error;
  return CanWrite(*file) ? Errno::kSuccess : Errno::kBadFile;
}

// Of the file now, which another descriptor may have cut or extended.
u64 WriteOffset(const OpenFile& file, u64 offset) {
  const bool append = (file.flags & fd_flags::kAppend) != 0;
  return append && file.inode->type == FileType::kRegular ? file.inode->content->size() : offset;
}

u32 Answer(Wasi& wasi, Errno error, u64 total, u32 result) {
  if (error == Errno::kSuccess) (void)wasi.memory().Write(result, static_cast<u32>(total));
  return Raw(error);
}

}  // namespace

u32 FdRead(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 got) {
  OpenFile* file;
  Errno error = GetReadable(wasi, fd, file);
  if (error == Errno::kSuccess) error = CheckTransfer(wasi, vectors, vector_count, got);
  if (error != Errno::kSuccess) return Raw(error);
  u64 total = 0;
  error = ReadInto(wasi, *file, file->offset, vectors, vector_count, total);
  if (error == Errno::kSuccess && file->inode->type == FileType::kRegular) file->offset += total;
  return Answer(wasi, error, total, got);
}

u32 FdPread(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u64 offset, u32 got) {
  OpenFile* file;
  Errno error = GetReadable(wasi, fd, file);
  if (error == Errno::kSuccess) error = CheckTransfer(wasi, vectors, vector_count, got);
  if (error != Errno::kSuccess) return Raw(error);
  if (offset > kMaxOffset) return Raw(Errno::kInvalid);
  if (IsStream(*file->inode)) return Raw(Errno::kNotSeekable);
  u64 total = 0;
  error = ReadInto(wasi, *file, offset, vectors, vector_count, total);
  return Answer(wasi, error, total, got);
}

u32 FdWrite(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 put) {
  OpenFile* file;
  Errno error = GetWritable(wasi, fd, file);
  if (error == Errno::kSuccess) error = CheckTransfer(wasi, vectors, vector_count, put);
  if (error != Errno::kSuccess) return Raw(error);
  const u64 offset = WriteOffset(*file, file->offset);
  u64 total = 0;
  error = WriteFrom(wasi, *file, offset, vectors, vector_count, total);
  if (error == Errno::kSuccess && file->inode->type == FileType::kRegular && total > 0) {
    file->offset = offset + total;
  }
  return Answer(wasi, error, total, put);
}

// With O_APPEND it appends, whatever the offset: so does Linux.
u32 FdPwrite(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u64 offset, u32 put) {
  OpenFile* file;
  Errno error = GetWritable(wasi, fd, file);
  if (error == Errno::kSuccess) error = CheckTransfer(wasi, vectors, vector_count, put);
  if (error != Errno::kSuccess) return Raw(error);
  if (offset > kMaxOffset) return Raw(Errno::kInvalid);
  if (IsStream(*file->inode)) return Raw(Errno::kNotSeekable);
  u64 total = 0;
  error = WriteFrom(wasi, *file, WriteOffset(*file, offset), vectors, vector_count, total);
  return Answer(wasi, error, total, put);
}

}  // namespace dormouse::wasi
