;; SPDX-License-Identifier: Apache-2.0
;; Direct, indirect and imported calls, tables, globals. Some comments are tests; see numeric.wat.
(module
  (type $unary (func (param i32) (result i32)))
  (type $same_unary (func (param i32) (result i32)))
  (type $binary (func (param i32 i32) (result i32)))
  (import "test" "twice" (func $twice (param i32) (result i32)))
  (import "test" "mix" (func $mix (param i32 i64 f32 f64) (result f64)))
  (table 5 8 funcref)
  (elem (i32.const 1) $increment $add $twice)
  (global $mutable (mut i64) (i64.const -5))
  (global $constant i32 (i32.const 77))
  (global (export "ratio") (mut f64) (f64.const 0.25))
  (func $increment (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
  (func $add (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  ;;= indirect(i32:1 i32:5) -> i32:6
  ;;= indirect(i32:3 i32:5) -> i32:10
  ;;= indirect(i32:2 i32:5) !! indirect call of a wrong function
  ;;= indirect(i32:0 i32:5) !! indirect call of a wrong function
  ;;= indirect(i32:5 i32:5) !! indirect call of a wrong function
  ;;= indirect(i32:-1 i32:5) !! indirect call of a wrong function
  (func (export "indirect") (param i32 i32) (result i32)
    (call_indirect (type $same_unary) (local.get 1) (local.get 0)))
  ;;= import_mixed(i32:1) -> f64:0x4032000000000000
  (func (export "import_mixed") (param i32) (result f64)
    (call $mix (local.get 0) (i64.const 2) (f32.const 5) (f64.const 10)))
  (export "import_itself" (func $twice))
  ;;= import_itself(i32:21) -> i32:42
  ;;= two_results(i32:7) -> i32:15
  (func (export "two_results") (param i32) (result i32)
    (call $pair (local.get 0)) (i32.add))
  (func $pair (param i32) (result i32 i32)
    (local.get 0) (i32.add (local.get 0) (i32.const 1)))
  ;;= globals() -> i64:72
  (func (export "globals") (result i64)
    (i64.add (global.get $mutable) (i64.extend_i32_u (global.get $constant))))
  ;;= factorial(i64:10) -> i64:3628800
  (func $factorial (export "factorial") (param i64) (result i64)
    (if (result i64) (i64.eqz (local.get 0))
      (then (i64.const 1))
      (else (i64.mul (local.get 0) (call $factorial (i64.sub (local.get 0) (i64.const 1)))))))
  ;; Not a tail call, so that no compiler makes a loop of it.
  ;;= endless(i32:1) !! call stack exhausted
  (func $endless (export "endless") (param i32) (result i32)
    (i32.add (call $endless (i32.add (local.get 0) (i32.const 1)))
             (call $endless (i32.mul (local.get 0) (i32.const 3)))))
)
