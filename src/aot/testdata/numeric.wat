;; SPDX-License-Identifier: Apache-2.0
;; Each function is one instruction. Comments with an equals sign are tests: a call, then "->" and its
;; result or "!!" and its trap. Floats are given by their bits.
(module
  ;;= i32_div_s(i32:-7 i32:2) -> i32:-3
  ;;= i32_div_s(i32:1 i32:0) !! integer divide by zero
  ;;= i32_div_s(i32:0x80000000 i32:-1) !! integer overflow
  (func (export "i32_div_s") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  ;;= i32_rem_s(i32:-7 i32:2) -> i32:-1
  ;;= i32_rem_s(i32:0x80000000 i32:-1) -> i32:0
  ;;= i32_rem_s(i32:0 i32:0) !! integer divide by zero
  (func (export "i32_rem_s") (param i32 i32) (result i32) (i32.rem_s (local.get 0) (local.get 1)))
  ;;= i32_div_u(i32:-1 i32:2) -> i32:0x7fffffff
  (func (export "i32_div_u") (param i32 i32) (result i32) (i32.div_u (local.get 0) (local.get 1)))
  ;;= i64_div_s(i64:0x8000000000000000 i64:-1) !! integer overflow
  ;;= i64_div_s(i64:-9 i64:3) -> i64:-3
  (func (export "i64_div_s") (param i64 i64) (result i64) (i64.div_s (local.get 0) (local.get 1)))
  ;;= i64_rem_u(i64:-1 i64:10) -> i64:5
  (func (export "i64_rem_u") (param i64 i64) (result i64) (i64.rem_u (local.get 0) (local.get 1)))
  ;;= i32_shl(i32:1 i32:33) -> i32:2
  (func (export "i32_shl") (param i32 i32) (result i32) (i32.shl (local.get 0) (local.get 1)))
  ;;= i32_shr_s(i32:-8 i32:1) -> i32:-4
  (func (export "i32_shr_s") (param i32 i32) (result i32) (i32.shr_s (local.get 0) (local.get 1)))
  ;;= i64_shr_u(i64:-1 i64:60) -> i64:15
  (func (export "i64_shr_u") (param i64 i64) (result i64) (i64.shr_u (local.get 0) (local.get 1)))
  ;;= i32_rotr(i32:1 i32:1) -> i32:0x80000000
  ;;= i32_rotr(i32:5 i32:0) -> i32:5
  (func (export "i32_rotr") (param i32 i32) (result i32) (i32.rotr (local.get 0) (local.get 1)))
  ;;= i64_rotl(i64:0x8000000000000001 i64:65) -> i64:3
  (func (export "i64_rotl") (param i64 i64) (result i64) (i64.rotl (local.get 0) (local.get 1)))
  ;;= i32_clz(i32:0) -> i32:32
  ;;= i32_clz(i32:1) -> i32:31
  (func (export "i32_clz") (param i32) (result i32) (i32.clz (local.get 0)))
  ;;= i64_ctz(i64:0) -> i64:64
  ;;= i64_ctz(i64:8) -> i64:3
  (func (export "i64_ctz") (param i64) (result i64) (i64.ctz (local.get 0)))
  ;;= i64_popcnt(i64:-1) -> i64:64
  (func (export "i64_popcnt") (param i64) (result i64) (i64.popcnt (local.get 0)))
  ;;= i32_extend8_s(i32:0x1ff) -> i32:-1
  (func (export "i32_extend8_s") (param i32) (result i32) (i32.extend8_s (local.get 0)))
  ;;= i64_extend32_s(i64:0x180000000) -> i64:0xffffffff80000000
  (func (export "i64_extend32_s") (param i64) (result i64) (i64.extend32_s (local.get 0)))
  ;; A comparison is a value like any other.
  ;;= compare_as_value(i32:-1 i32:0) -> i64:1
  ;;= compare_as_value(i32:0 i32:0) -> i64:0xffffffff
  (func (export "compare_as_value") (param i32 i32) (result i64)
    (i64.extend_i32_u (i32.sub (i32.lt_s (local.get 0) (local.get 1))
                               (i32.eq (local.get 0) (local.get 1)))))
  ;;= f64_min(f64:0x0000000000000000 f64:0x8000000000000000) -> f64:0x8000000000000000
  ;;= f64_min(f64:0x7ff8000000000000 f64:0x3ff0000000000000) -> f64:nan
  ;;= f64_min(f64:0x3ff0000000000000 f64:0x7ff4000000000000) -> f64:nan
  (func (export "f64_min") (param f64 f64) (result f64) (f64.min (local.get 0) (local.get 1)))
  ;;= f32_max(f32:0x80000000 f32:0x00000000) -> f32:0x00000000
  ;;= f32_max(f32:0x7fc00000 f32:0xff800000) -> f32:nan
  (func (export "f32_max") (param f32 f32) (result f32) (f32.max (local.get 0) (local.get 1)))
  ;;= f64_nearest(f64:0x4004000000000000) -> f64:0x4000000000000000
  ;;= f64_nearest(f64:0xbfe0000000000000) -> f64:0x8000000000000000
  (func (export "f64_nearest") (param f64) (result f64) (f64.nearest (local.get 0)))
  ;;= f32_copysign(f32:0x3f800000 f32:0xffc00000) -> f32:0xbf800000
  (func (export "f32_copysign") (param f32 f32) (result f32)
    (f32.copysign (local.get 0) (local.get 1)))
  ;;= f32_neg(f32:0x7fa00000) -> f32:0xffa00000
  (func (export "f32_neg") (param f32) (result f32) (f32.neg (local.get 0)))
  ;;= f64_sqrt(f64:0xbff0000000000000) -> f64:nan
  (func (export "f64_sqrt") (param f64) (result f64) (f64.sqrt (local.get 0)))
  ;;= trunc_s32_f64(f64:0xc1e00000001fffff) -> i32:0x80000000
  ;;= trunc_s32_f64(f64:0xc1e0000000200000) !! integer overflow
  ;;= trunc_s32_f64(f64:0x7ff8000000000000) !! invalid conversion to integer
  (func (export "trunc_s32_f64") (param f64) (result i32) (i32.trunc_f64_s (local.get 0)))
  ;;= trunc_u64_f32(f32:0xbf7fffff) -> i64:0
  ;;= trunc_u64_f32(f32:0xbf800000) !! integer overflow
  ;;= trunc_u64_f32(f32:0x5f7fffff) -> i64:0xffffff0000000000
  ;;= trunc_u64_f32(f32:0x5f800000) !! integer overflow
  (func (export "trunc_u64_f32") (param f32) (result i64) (i64.trunc_f32_u (local.get 0)))
  ;;= trunc_sat_s64_f64(f64:0x7ff8000000000000) -> i64:0
  ;;= trunc_sat_s64_f64(f64:0x7ff0000000000000) -> i64:0x7fffffffffffffff
  ;;= trunc_sat_s64_f64(f64:0xfff0000000000000) -> i64:0x8000000000000000
  (func (export "trunc_sat_s64_f64") (param f64) (result i64) (i64.trunc_sat_f64_s (local.get 0)))
  ;;= convert_f32_u64(i64:0xffffffffffffffff) -> f32:0x5f800000
  (func (export "convert_f32_u64") (param i64) (result f32) (f32.convert_i64_u (local.get 0)))
  ;;= nan_constant() -> f32:0x7fa00001
  (func (export "nan_constant") (result f32) (f32.const nan:0x200001))
  ;;= minus_zero() -> f64:0x8000000000000000
  (func (export "minus_zero") (result f64) (f64.const -0.0))
)
