// SPDX-License-Identifier: Apache-2.0
// Errno: what a file operation answers, numbered as in WASI preview 1. Meanings are those of Linux.
#pragma once

#include <cstdint>

namespace dormouse::wasi {

enum class Errno : std::uint16_t {
  kSuccess = 0,
  kBadFile = 8,        // EBADF
  kBusy = 10,          // EBUSY
  kQuota = 19,         // EDQUOT
  kExists = 20,        // EEXIST
  kFault = 21,         // EFAULT
  kFileTooBig = 22,    // EFBIG
  kIllegalName = 25,   // EILSEQ
  kInterrupted = 27,   // EINTR
  kInvalid = 28,       // EINVAL
  kIo = 29,            // EIO
  kIsDirectory = 31,   // EISDIR
  kLoop = 32,          // ELOOP
  kTooManyOpen = 33,   // EMFILE
  kTooManyLinks = 34,  // EMLINK
  kNameTooLong = 37,   // ENAMETOOLONG
  kNotFound = 44,      // ENOENT
  kNoMemory = 48,      // ENOMEM
  kNoSpace = 51,       // ENOSPC
  kNotDirectory = 54,  // ENOTDIR
  kNotEmpty = 55,      // ENOTEMPTY
  kNotSocket = 57,     // ENOTSOCK
  kNotSupported = 58,  // ENOTSUP
  kOverflow = 61,      // EOVERFLOW
  kNotPermitted = 63,  // EPERM
  kPipe = 64,          // EPIPE
  kReadOnly = 69,      // EROFS
  kNotSeekable = 70,   // ESPIPE
  kStale = 72,         // ESTALE
  kCrossDevice = 75,   // EXDEV
  kNotCapable = 76,    // a right was given up; WASI's own
};

}  // namespace dormouse::wasi
