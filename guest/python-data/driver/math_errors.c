// SPDX-License-Identifier: Apache-2.0
// How functions of libc's give results that raise floating-point exceptions. Libc's own say only what the result is: its
// compiler has computed it, and nothing is left that would raise a flag. These replace them (and wrap log1p), and raise
// the flags of the CPU by name.
#include <fenv.h>
#include <math.h>
#include <stdint.h>

double __math_xflow(uint32_t sign, double factor);
double __math_uflow(uint32_t sign);
double __math_oflow(uint32_t sign);
double __math_divzero(uint32_t sign);
double __math_invalid(double x);
float __math_xflowf(uint32_t sign, float factor);
float __math_uflowf(uint32_t sign);
float __math_oflowf(uint32_t sign);
float __math_divzerof(uint32_t sign);
float __math_invalidf(float x);
double __real_log1p(double x);
float __real_log1pf(float x);
double __wrap_log1p(double x);
float __wrap_log1pf(float x);

static double Signed(uint32_t sign, double value) { return sign ? -value : value; }

double __math_oflow(uint32_t sign) {
  feraiseexcept(FE_OVERFLOW | FE_INEXACT);
  return Signed(sign, INFINITY);
}

double __math_uflow(uint32_t sign) {
  feraiseexcept(FE_UNDERFLOW | FE_INEXACT);
  return Signed(sign, 0);
}

// The square of a number that is far too large or too small.
double __math_xflow(uint32_t sign, double factor) {
  return factor > 1 ? __math_oflow(sign) : __math_uflow(sign);
}

double __math_divzero(uint32_t sign) {
  feraiseexcept(FE_DIVBYZERO);
  return Signed(sign, INFINITY);
}

double __math_invalid(double x) {
  if (!isnan(x)) feraiseexcept(FE_INVALID);
  return isnan(x) ? x : NAN;
}

float __math_oflowf(uint32_t sign) { return (float)__math_oflow(sign); }
float __math_uflowf(uint32_t sign) { return (float)__math_uflow(sign); }
float __math_xflowf(uint32_t sign, float factor) { return (float)__math_xflow(sign, factor); }
float __math_divzerof(uint32_t sign) { return (float)__math_divzero(sign); }
float __math_invalidf(float x) { return (float)__math_invalid(x); }

double __wrap_log1p(double x) { return x == -1 ? __math_divzero(1) : __real_log1p(x); }
float __wrap_log1pf(float x) { return x == -1 ? __math_divzerof(1) : __real_log1pf(x); }
