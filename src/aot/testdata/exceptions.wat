;; SPDX-License-Identifier: Apache-2.0
;; Exceptions: try, catch, catch_all, delegate, throw, rethrow. Some comments are tests; see numeric.wat.
(module
  (memory 1)
  (table 3 funcref)
  (elem (i32.const 0) $throw_a $throw_b $nothing)
  (tag $a)
  (tag $b (param i32))
  (tag $c (param i32))
  (tag $many (param i32 i64 f32 f64))
  (tag $unused (export "unused") (param i64))
  (global $g (mut i32) (i32.const 0))
  (type $taker (func (param i32)))

  (func $throw_a (param i32) (if (local.get 0) (then (throw $a))))
  (func $throw_b (param i32) (if (local.get 0) (then (throw $b (local.get 0)))))
  (func $throw_c (param i32) (if (local.get 0) (then (throw $c (local.get 0)))))
  (func $nothing (param i32))
  ;; 1: $a; 2: $b 20; 3: $c 30; 4: $many; else nothing.
  (func $throw (param i32)
    (block $4 (block $3 (block $2 (block $1 (block $0
      (br_table $0 $1 $2 $3 $4 $0 (local.get 0)))
      (return))
      (throw $a))
      (throw $b (i32.const 20)))
      (throw $c (i32.const 30)))
    (throw $many (i32.const 1) (i64.const 2) (f32.const 0.5) (f64.const 0.25)))
  ;; The same some frames further down.
  (func $deep (param $depth i32) (param $what i32) (result i32)
    (if (i32.eqz (local.get $depth)) (then (call $throw (local.get $what)) (return (i32.const 0))))
    (i32.add (i32.const 1)
      (call $deep (i32.sub (local.get $depth) (i32.const 1)) (local.get $what))))

  ;;= not_caught(i32:0) -> i32:7
  ;;= not_caught(i32:1) !! uncaught exception
  ;;= not_caught(i32:4) !! uncaught exception
  (func (export "not_caught") (param i32) (result i32) (call $throw (local.get 0)) (i32.const 7))

  ;;= which(i32:0) -> i32:0
  ;;= which(i32:1) -> i32:10
  ;;= which(i32:2) -> i32:20
  ;;= which(i32:3) -> i32:31
  ;;= which(i32:4) -> i32:99
  (func $which (export "which") (param i32) (result i32)
    (try (result i32)
      (do (call $throw (local.get 0)) (i32.const 0))
      (catch $a (i32.const 10))
      (catch $b)
      (catch $c (i32.add (i32.const 1)))
      (catch_all (i32.const 99))))
  ;; A tag that is not listed goes on.
  ;;= only_b(i32:2) -> i32:20
  ;;= only_b(i32:3) !! uncaught exception
  (func (export "only_b") (param i32) (result i32)
    (try (result i32) (do (call $throw (local.get 0)) (i32.const 0)) (catch $b)))
  ;;= outer_has_c(i32:0) -> i32:0
  ;;= outer_has_c(i32:2) -> i32:21
  ;;= outer_has_c(i32:3) -> i32:32
  ;;= outer_has_c(i32:1) -> i32:3
  (func (export "outer_has_c") (param i32) (result i32)
    (try (result i32)
      (do (try (result i32)
        (do (call $throw (local.get 0)) (i32.const 0))
        (catch $b (i32.add (i32.const 1)))))
      (catch $c (i32.add (i32.const 2)))
      (catch_all (i32.const 3))))
  ;;= through_frames(i32:0) -> i32:50
  ;;= through_frames(i32:3) -> i32:130
  (func (export "through_frames") (param i32) (result i32)
    (try (result i32)
      (do (call $deep (i32.const 50) (local.get 0)))
      (catch $c (i32.add (i32.const 100)))))
  ;;= values(i32:2) -> f64:0x4010e00000000000
  (func (export "values") (param i32) (result f64) (local i32 i64 f32 f64)
    (try
      (do (throw $many (local.get 0) (i64.const 2) (f32.const 0.125) (f64.const 0.09375)))
      (catch $many (local.set 4) (local.set 3) (local.set 2) (local.set 1)))
    (f64.add (f64.add (f64.convert_i32_s (local.get 1)) (f64.convert_i64_s (local.get 2)))
             (f64.add (f64.promote_f32 (local.get 3)) (local.get 4))))
  ;;= bits_of_nan() -> i64:0x7ff4000000000001
  (func (export "bits_of_nan") (result i64)
    (try (result f64)
      (do (throw $many (i32.const 0) (i64.const 0) (f32.const 0) (f64.const nan:0x4000000000001)))
      (catch $many (global.set $scratch) (drop) (drop) (drop) (global.get $scratch)))
    (i64.reinterpret_f64))
  (global $scratch (mut f64) (f64.const 0))
  ;;= indirect(i32:0) -> i32:1
  ;;= indirect(i32:1) -> i32:9
  ;;= indirect(i32:2) -> i32:0
  ;;= indirect(i32:3) !! indirect call of a wrong function
  (func (export "indirect") (param i32) (result i32)
    (try (result i32)
      (do (call_indirect (type $taker) (i32.const 9) (local.get 0)) (i32.const 0))
      (catch $a (i32.const 1))
      (catch $b)))
  ;; No catches at all.
  ;;= bare(i32:0) -> i32:4
  ;;= bare(i32:1) !! uncaught exception
  (func (export "bare") (param i32) (result i32)
    (try (result i32) (do (call $throw (local.get 0)) (i32.const 4))))

  ;; Traps are not caught; what they leave behind is not there when the host calls again.
  ;;= trap(i32:0) !! unreachable code reached
  ;;= throws() !! uncaught exception
  ;;= trap(i32:1) !! integer divide by zero
  ;;= throws() !! uncaught exception
  ;;= trap(i32:2) !! out of bounds memory access
  ;;= which(i32:2) -> i32:20
  (func (export "trap") (param i32) (result i32)
    (try (result i32)
      (do
        (if (i32.eqz (local.get 0)) (then (unreachable)))
        (if (i32.eq (local.get 0) (i32.const 1))
          (then (local.set 0 (i32.div_u (i32.const 1) (i32.const 0)))))
        (i32.load (i32.const 100000)))
      (catch_all (i32.const 1))))
  (func (export "throws") (throw $a))
  ;;= endless() !! call stack exhausted
  (func $endless (export "endless") (result i32)
    (try (result i32) (do (i32.add (call $endless) (i32.const 1))) (catch_all (i32.const 5))))

  ;; Locals at a catch are those at the throw.
  ;;= changed_local(i32:2) -> i32:220
  (func (export "changed_local") (param i32) (result i32) (local $x i32)
    (local.set $x (i32.const 5))
    (try (result i32)
      (do
        (local.set $x (i32.const 100))
        (call $nothing (local.get $x))
        (local.set $x (i32.mul (local.get $x) (i32.const 2)))
        (call $throw (local.get 0))
        (local.set $x (i32.const 1))
        (i32.const 0))
      (catch $b (i32.add (local.get $x)))))
  ;;= changed_parameter(i32:2) -> i32:22
  (func (export "changed_parameter") (param i32) (result i32)
    (try (result i32)
      (do
        (call $throw (i32.and (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 2)))
        (i32.const 0))
      (catch $b (local.set 0 (i32.sub (local.get 0) (i32.const 1))) (i32.add (local.get 0)))))
  ;; In a loop, with a throw every third time: what is added before counts, what comes behind does not.
  ;;= in_loop(i32:10) -> i64:1078
  (func (export "in_loop") (param $n i32) (result i64) (local $i i32) (local $sum i64)
    (loop $next
      (try
        (do
          (local.set $sum (i64.add (local.get $sum) (i64.const 100)))
          (call $throw (select (i32.const 2) (i32.const 0)
            (i32.eqz (i32.rem_u (local.get $i) (i32.const 3)))))
          (local.set $sum (i64.sub (local.get $sum) (i64.extend_i32_u (local.get $i)))))
        (catch $b (drop) (local.set $sum (i64.add (local.get $sum) (i64.extend_i32_u (local.get $i))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (i64.add (local.get $sum) (i64.const 87)))
  ;; A local that only the code behind the try reads, and one of each type.
  ;;= behind(i32:1) -> f64:0x404b000000000000
  ;;= behind(i32:0) -> f64:0x4057800000000000
  (func (export "behind") (param i32) (result f64) (local $i i32) (local $l i64) (local $f f32) (local $d f64)
    (local.set $i (i32.const 1)) (local.set $l (i64.const 10)) (local.set $f (f32.const 20))
    (local.set $d (f64.const 30))
    (try
      (do
        (local.set $i (i32.const 2)) (local.set $l (i64.const 11)) (local.set $f (f32.const 21))
        (local.set $d (f64.const 20))
        (call $throw_a (local.get 0))
        (local.set $d (f64.const 60)))
      (catch $a))
    (f64.add (f64.add (f64.convert_i32_s (local.get $i)) (f64.convert_i64_s (local.get $l)))
             (f64.add (f64.promote_f32 (local.get $f)) (local.get $d))))
  ;; What lies on the stack below a try stays, and the try may take some of it.
  ;;= below(i32:0) -> i32:1111
  ;;= below(i32:2) -> i32:1131
  (func (export "below") (param i32) (result i32)
    (i32.const 1) (i32.add (local.get 0) (i32.const 10)) (call $deep (i32.const 99) (i32.const 0))
    (i32.const 1000)
    (try (param i32) (result i32)
      (do (call $throw (local.get 0)))
      (catch $b (drop) (i32.const 1018)))
    (i32.add) (i32.add) (i32.add)
    (i32.add (i32.const 1)))
  ;;= below_in_loop(i32:5) -> i32:1605
  (func (export "below_in_loop") (param $n i32) (result i32) (local $sum i32)
    (i32.const 0)
    (loop $next (param i32) (result i32)
      (i32.add (i32.const 1))
      (call $deep (local.get $n) (i32.const 0))
      (try (result i32)
        (do (try (result i32)
          (do (call $throw_b (i32.const 300)) (i32.const 0))
          (catch $b (call $throw_c (i32.add (i32.const 17))) (i32.const 0))))
        (catch $c))
      (local.set $sum (i32.add (local.get $sum)))
      (local.set $sum (i32.add (local.get $sum)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.add (local.get $sum)))

  ;; Out of a try by other ways than its end; what is thrown then is the caller's.
  ;;= branch_out(i32:0) -> i32:30
  ;;= branch_out(i32:1) -> i32:5
  (func (export "branch_out") (param i32) (result i32)
    (try (result i32)
      (do
        (block $out
          (try
            (do
              (try (do (br_if $out (i32.eqz (local.get 0))) (call $throw (i32.const 2)))
                (catch_all (return (i32.const 5)))))
            (catch $c (drop) (return (i32.const 6)))))
        (call $throw (i32.const 3))
        (i32.const 7))
      (catch $c)))
  (func $return_out (param i32) (result i32)
    (try (result i32)
      (do (if (local.get 0) (then (return (i32.const 1)))) (i32.const 2))
      (catch_all (i32.const 3))))
  ;;= after_return(i32:0) -> i32:230
  ;;= after_return(i32:1) -> i32:130
  (func (export "after_return") (param i32) (result i32) (local $r i32)
    (try (result i32)
      (do (local.set $r (call $return_out (local.get 0))) (call $throw (i32.const 3)) (i32.const 0))
      (catch $c (i32.add (i32.mul (local.get $r) (i32.const 100))))))
  ;;= table_out(i32:0) -> i32:1
  ;;= table_out(i32:1) -> i32:2
  ;;= table_out(i32:2) -> i32:13
  ;;= table_out(i32:9) -> i32:13
  (func (export "table_out") (param i32) (result i32)
    (try (result i32)
      (do
        (block $far
          (try
            (do
              (block $near
                (try (do (block $inside
                    (br_table $inside $near $far (local.get 0)))
                    (call $throw (i32.const 1)))
                  (catch $a (return (i32.const 1))))
                (return (i32.const 5)))
              (call $throw (i32.const 1)))
            (catch_all (return (i32.const 2)))))
        (call $throw (i32.const 2))
        (i32.const 6))
      (catch $b (i32.sub (i32.const 7)))))
  ;;= loop_inside(i32:5) -> i32:25
  (func (export "loop_inside") (param i32) (result i32) (local $i i32)
    (try (result i32)
      (do
        (loop $next
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $i) (local.get 0)))
          (call $throw (i32.const 2))
          (br $next))
        (i32.const 0))
      (catch $b (i32.add (local.get $i)))))
  ;; From the catch back to before the try, until nothing is thrown.
  ;;= again(i32:4) -> i32:4321
  (func (export "again") (param i32) (result i32) (local $seen i32)
    (loop $next
      (try
        (do (call $throw_b (local.get 0)))
        (catch $b
          (local.set $seen (i32.add (i32.mul (local.get $seen) (i32.const 10))))
          (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
          (br $next))))
    (local.get $seen))

  ;;= throw_in_catch(i32:1) -> i32:1020
  ;;= throw_in_catch(i32:2) -> i32:40
  (func (export "throw_in_catch") (param i32) (result i32)
    (try (result i32)
      (do (try (result i32)
        (do (call $throw (local.get 0)) (i32.const 0))
        (catch $a (throw $b (i32.const 20)))
        (catch $b (throw $c))))
      (catch $b (i32.add (i32.const 1000)))
      (catch $c (i32.mul (i32.const 2)))))
  ;;= again_thrown(i32:2) -> i32:21
  ;;= again_thrown(i32:4) -> i32:1
  ;;= again_thrown(i32:1) !! uncaught exception
  (func (export "again_thrown") (param i32) (result i32)
    (try (result i32)
      (do (try (result i32)
        (do (call $throw (local.get 0)) (i32.const 0))
        (catch_all (rethrow 0))))
      (catch $b (i32.add (i32.const 1)))
      (catch $many (drop) (drop) (drop))))
  ;; The one that was caught here, whatever has been caught since.
  ;;= inner_and_outer(i32:0) -> i32:20
  ;;= inner_and_outer(i32:1) -> i32:31
  (func (export "inner_and_outer") (param i32) (result i32)
    (try (result i32)
      (do
        (try (result i32)
          (do (call $throw (i32.const 2)) (i32.const 0))
          (catch $b (drop)
            (try (result i32)
              (do (call $throw (i32.const 3)) (i32.const 0))
              (catch $c (drop)
                (drop (call $which (i32.const 4)))
                (if (local.get 0) (then (rethrow 1)))
                (rethrow 1))))))
      (catch $b)
      (catch $c (i32.add (i32.const 1)))))
  ;; Labels of ordinary blocks count, too.
  ;;= through_blocks(i32:2) -> i32:120
  (func (export "through_blocks") (param i32) (result i32)
    (try (result i32)
      (do
        (try (do (call $throw (local.get 0)))
          (catch_all (block (loop (block (drop (call $which (i32.const 3))) (rethrow 3))))))
        (i32.const 0))
      (catch $b (i32.add (i32.const 100)))))

  ;; A delegate hands on to the try around its target.
  ;;= delegate_out(i32:0) -> i32:0
  ;;= delegate_out(i32:2) -> i32:120
  (func (export "delegate_out") (param i32) (result i32)
    (try $outer (result i32)
      (do
        (try (result i32)
          (do (try (result i32)
            (do (call $throw (local.get 0)) (i32.const 0))
            (delegate $outer)))
          (catch_all (i32.const 50))))
      (catch $b (i32.add (i32.const 100)))))
  ;;= delegate_next(i32:2) -> i32:50
  (func (export "delegate_next") (param i32) (result i32)
    (try $outer (result i32)
      (do
        (try $inner (result i32)
          (do (try (result i32) (do (call $throw (local.get 0)) (i32.const 0)) (delegate $inner)))
          (catch_all (i32.const 50))))
      (catch $b (i32.add (i32.const 100)))))
  ;; To the function: to its caller.
  (func $to_caller (param i32) (result i32)
    (try (result i32)
      (do (try (result i32) (do (call $throw (local.get 0)) (i32.const 1)) (delegate 1)))
      (catch_all (i32.const 2))))
  ;;= delegate_to_caller(i32:0) -> i32:1
  ;;= delegate_to_caller(i32:3) -> i32:31
  (func (export "delegate_to_caller") (param i32) (result i32)
    (try (result i32)
      (do (call $to_caller (local.get 0)))
      (catch $c (i32.add (i32.const 1)))))
  ;; To a block: to what is around that.
  ;;= delegate_to_block(i32:2) -> i32:22
  (func (export "delegate_to_block") (param i32) (result i32)
    (try (result i32)
      (do
        (block $block (result i32)
          (try (result i32)
            (do (try (result i32) (do (call $throw (local.get 0)) (i32.const 1)) (delegate $block)))
            (catch_all (i32.const 3)))))
      (catch $b (i32.add (i32.const 2)))))
  ;; From within a catch: that try's own catches are over.
  ;;= delegate_from_catch(i32:2) -> i32:24
  (func (export "delegate_from_catch") (param i32) (result i32)
    (try (result i32)
      (do
        (try $over (result i32)
          (do (call $throw (i32.const 1)) (i32.const 0))
          (catch_all
            (try (result i32) (do (call $throw (local.get 0)) (i32.const 1)) (delegate $over)))))
      (catch $b (i32.add (i32.const 4)))))
  ;; To another delegate: it is handed on twice.
  ;;= delegate_twice(i32:2) -> i32:26
  (func (export "delegate_twice") (param i32) (result i32)
    (try $outer (result i32)
      (do
        (try (result i32)
          (do
            (try $second (result i32)
              (do
                (try (result i32)
                  (do (try (result i32) (do (call $throw (local.get 0)) (i32.const 1)) (delegate $second)))
                  (catch_all (i32.const 5))))
              (delegate $outer)))
          (catch_all (i32.const 6))))
      (catch $b (i32.add (i32.const 6)))))
  ;; Behind a delegate, and out of it, the handlers are those from before.
  ;;= after_delegate(i32:0) -> i32:20
  ;;= after_delegate(i32:1) -> i32:20
  (func (export "after_delegate") (param i32) (result i32)
    (try $outer (result i32)
      (do
        (try (result i32)
          (do
            (block $out (try (do (br_if $out (local.get 0))) (delegate $outer)))
            (call $throw (i32.const 2))
            (i32.const 1))
          (catch $b)))
      (catch_all (i32.const 2))))
  ;;= delegated_value(i32:7) -> i32:8
  (func (export "delegated_value") (param i32) (result i32)
    (local.get 0)
    (try (param i32) (result i32) (do (i32.add (i32.const 1))) (delegate 0)))

  ;; A recursion in which each frame has a handler and each second one handles.
  ;;= recursion(i32:1000) -> i32:1500
  (func $recursion (export "recursion") (param i32) (result i32) (local $r i32)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 0))))
    (try
      (do
        (local.set $r (call $recursion (i32.sub (local.get 0) (i32.const 1))))
        (local.set $r (i32.add (local.get $r) (i32.const 1)))
        (call $throw_a (i32.and (local.get 0) (i32.const 1))))
      (catch $a (local.set $r (i32.add (local.get $r) (i32.const 1)))))
    (local.get $r))
  ;; Globals and memory stay as they are.
  ;;= effects() -> i32:33
  (func (export "effects") (result i32)
    (try
      (do
        (global.set $g (i32.const 11)) (i32.store (i32.const 40) (i32.const 22)) (call $throw_a (i32.const 1))
        (global.set $g (i32.const 0)))
      (catch $a))
    (i32.add (global.get $g) (i32.load (i32.const 40)))
    (global.set $g (i32.const 0)))
  ;; Each round costs the same, whichever way it takes.
  ;;= rounds(i32:1000) -> i32:20000
  (func (export "rounds") (param $n i32) (result i32) (local $sum i32)
    (loop $next
      (try (do (call $throw (i32.const 2))) (catch $b (local.set $sum (i32.add (local.get $sum)))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))
)
