;; SPDX-License-Identifier: Apache-2.0
;; Blocks, branches and the order of effects. Some comments are tests; see numeric.wat.
(module
  (memory 1)
  (global $g (mut i32) (i32.const 10))
  ;;= sum_to(i32:10) -> i32:55
  (func (export "sum_to") (param $n i32) (result i32) (local $sum i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $sum (i32.add (local.get $sum) (local.get $n)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next)))
    (local.get $sum))
  ;;= pick(i32:0) -> i32:100
  ;;= pick(i32:1) -> i32:101
  ;;= pick(i32:2) -> i32:101
  ;;= pick(i32:3) -> i32:103
  ;;= pick(i32:-1) -> i32:103
  (func (export "pick") (param i32) (result i32)
    (block $c (block $b (block $a (br_table $a $b $b $c (local.get 0)))
      (return (i32.const 100)))
      (return (i32.const 101)))
    (i32.const 103))
  ;; br_table that carries a value to labels with variables of their own.
  ;;= carry(i32:0) -> i32:16
  ;;= carry(i32:9) -> i32:6
  (func (export "carry") (param i32) (result i32)
    (block $outer (result i32)
      (i32.add (i32.const 10)
        (block $inner (result i32) (br_table $inner $outer (i32.const 6) (local.get 0))))))
  ;;= if_else(i32:1) -> i32:7
  ;;= if_else(i32:0) -> i32:8
  (func (export "if_else") (param i32) (result i32)
    (if (result i32) (local.get 0) (then (i32.const 7)) (else (i32.const 8))))
  ;; Loop parameters that a branch swaps.
  ;;= fibonacci(i32:10) -> i64:55
  (func (export "fibonacci") (param $n i32) (result i64)
    (i64.const 0) (i64.const 1)
    (loop $next (param i64 i64) (result i64)
      (call $swap_add)
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))
      (drop)))
  (func $swap_add (param i64 i64) (result i64 i64)
    (local.get 1) (i64.add (local.get 0) (local.get 1)))
  ;;= swap_in_loop(i32:1) -> i64:20
  ;;= swap_in_loop(i32:2) -> i64:10
  (func (export "swap_in_loop") (param $n i32) (result i64) (local $t i64) (local $u i64)
    (i64.const 10) (i64.const 20)
    (loop $next (param i64 i64) (result i64)
      (local.set $u) (local.set $t)
      (local.get $u) (local.get $t)
      (local.tee $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next)
      (drop)))
  ;; The value taken first is the one before the change.
  ;;= local_before_set(i32:3) -> i32:3
  (func (export "local_before_set") (param i32) (result i32)
    (local.get 0) (local.set 0 (i32.const 9)))
  ;;= local_before_tee(i32:3) -> i32:12
  (func (export "local_before_tee") (param i32) (result i32)
    (i32.add (local.get 0) (local.tee 0 (i32.const 9))))
  ;;= global_before_set() -> i32:10
  (func (export "global_before_set") (result i32)
    (global.get $g) (global.set $g (i32.const 11)) (global.set $g (i32.const 10)))
  ;;= load_before_store() -> i32:5
  (func (export "load_before_store") (result i32)
    (i32.store (i32.const 8) (i32.const 5))
    (i32.load (i32.const 8)) (i32.store (i32.const 8) (i32.const 6)))
  ;;= load_before_call() -> i32:1
  (func (export "load_before_call") (result i32)
    (i32.store (i32.const 16) (i32.const 1))
    (i32.load (i32.const 16)) (call $clobber))
  (func $clobber (i32.store (i32.const 16) (i32.const 2)) (global.set $g (i32.const 10)))
  ;; Set in one arm only: what was taken before the branch stays.
  ;;= local_across_if(i32:0) -> i32:0
  ;;= local_across_if(i32:1) -> i32:1
  (func (export "local_across_if") (param i32) (result i32)
    (local.get 0)
    (if (local.get 0) (then (local.set 0 (i32.const 50)))))
  ;;= local_across_branch(i32:1) -> i32:1
  ;;= local_across_branch(i32:0) -> i32:0
  (func (export "local_across_branch") (param i32) (result i32)
    (local.get 0)
    (block (br_if 0 (local.get 0)) (local.set 0 (i32.const 50))))
  ;;= select_value(i32:1) -> i64:4
  ;;= select_value(i32:0) -> i64:5
  (func (export "select_value") (param i32) (result i64)
    (select (i64.const 4) (i64.const 5) (local.get 0)))
  ;; Code that cannot run does not disturb what can.
  ;;= after_unreachable(i32:1) -> i32:2
  ;;= after_unreachable(i32:0) !! unreachable code reached
  (func (export "after_unreachable") (param i32) (result i32)
    (block (br_if 0 (local.get 0)) (unreachable) (drop (i32.add)))
    (i32.const 2))
  ;;= early_return(i32:5) -> i32:5
  (func (export "early_return") (param i32) (result i32)
    (loop (result i32) (return (local.get 0)) (br 0)))
)
