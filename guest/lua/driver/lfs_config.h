// SPDX-License-Identifier: Apache-2.0
// What LuaFileSystem wants of the system and WASI lacks: locks, which fail, and umask.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

enum { F_RDLCK = 0, F_WRLCK = 1, F_UNLCK = 2, F_SETLK = 6 };
