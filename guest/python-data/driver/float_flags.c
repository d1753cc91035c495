// SPDX-License-Identifier: Apache-2.0
// <fenv.h> on the flags of the CPU that runs the engine. All of it, so that wasi-libc's is not linked.
#include <fenv.h>
#include <stdint.h>

// Takes the flags in `clear` down, then those in `raise` up; returns what was up before.
__attribute__((import_module("dormouse"), import_name("float_flags"))) extern uint32_t FloatFlags(
    uint32_t clear, uint32_t raise);

int fetestexcept(int wanted) { return (int)FloatFlags(0, 0) & wanted; }

int feclearexcept(int flags) {
  FloatFlags((uint32_t)(flags & FE_ALL_EXCEPT), 0);
  return 0;
}

int feraiseexcept(int flags) {
  FloatFlags(0, (uint32_t)(flags & FE_ALL_EXCEPT));
  return 0;
}

int fegetexceptflag(fexcept_t* saved, int wanted) {
  *saved = (fexcept_t)fetestexcept(wanted);
  return 0;
}

int fesetexceptflag(const fexcept_t* saved, int wanted) {
  FloatFlags((uint32_t)(wanted & FE_ALL_EXCEPT), (uint32_t)*saved & (uint32_t)wanted);
  return 0;
}

int fegetenv(fenv_t* environment) { return fegetexceptflag(&environment->flags, FE_ALL_EXCEPT); }

int fesetenv(const fenv_t* environment) {
  FloatFlags(FE_ALL_EXCEPT, environment == FE_DFL_ENV ? 0 : (uint32_t)environment->flags);
  return 0;
}

int feholdexcept(fenv_t* environment) {
  fegetenv(environment);
  return feclearexcept(FE_ALL_EXCEPT);
}

int feupdateenv(const fenv_t* environment) {
  const int raised = fetestexcept(FE_ALL_EXCEPT);
  fesetenv(environment);
  return feraiseexcept(raised);
}

// WebAssembly rounds to the nearest.
int fegetround(void) { return FE_TONEAREST; }
int fesetround(int mode) { return mode == FE_TONEAREST ? 0 : -1; }
