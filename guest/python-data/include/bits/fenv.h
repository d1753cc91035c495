// SPDX-License-Identifier: Apache-2.0
// In place of wasi-libc's, which has no floating-point exceptions: those of the host, in the numbers of
// docs/engine-abi.md. driver/float_flags.c has the functions.
#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
#define FE_UNDERFLOW 16
#define FE_INEXACT 32
#define FE_ALL_EXCEPT (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT)
#define FE_TONEAREST 0

typedef unsigned long fexcept_t;

typedef struct {
  unsigned long flags;
} fenv_t;

#define FE_DFL_ENV ((const fenv_t*)-1)
