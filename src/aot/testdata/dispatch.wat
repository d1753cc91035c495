;; SPDX-License-Identifier: Apache-2.0
;; The loop of an interpreter: a br_table with many targets over a byte just loaded, or a masked word.
;; Some comments are tests; see numeric.wat. Instructions: 0 adds 1, 1 doubles, 64 ends, others trap.
(module
  (memory 1)
  (data (i32.const 0) "\00\01\01\00\40")
  (data (i32.const 16) "\00\02")
  (data (i32.const 32) "\00\ff")
  (data (i32.const 48) "\00\01\41")
  ;;= run(i32:0) -> i32:5
  ;;= run(i32:16) !! unreachable code reached
  ;;= run(i32:32) !! unreachable code reached
  ;;= run(i32:48) !! integer divide by zero
  (func (export "run") (param $pc i32) (result i32) (local $op i32) (local $value i32)
    (block $end (block $other (block $divide (block $double (block $increment
      (loop $next
        (local.set $op (i32.load8_u (local.get $pc)))
        (local.set $pc (i32.add (local.get $pc) (i32.const 1)))
        (block $b (block $a
          (br_table $a $b $other $other $other $other $other $other $other $other $other $other
            $other $other $other $other $other $other $other $other $other $other $other $other
            $other $other $other $other $other $other $other $other $other $other $other $other
            $other $other $other $other $other $other $other $other $other $other $other $other
            $other $other $other $other $other $other $other $other $other $other $other $other
            $other $other $other $other $end $divide $other
            (local.get $op)))
          (local.set $value (i32.add (local.get $value) (i32.const 1)))
          (br $next))
        (local.set $value (i32.mul (local.get $value) (i32.const 2)))
        (br $next))
      (unreachable)) (unreachable)) (unreachable))
      (return (i32.div_u (i32.const 1) (i32.const 0))))
      (unreachable))
    (local.get $value))
  ;; What is known of the index ends where control joins.
  ;;= joined(i32:200 i32:0) -> i32:7
  ;;= joined(i32:200 i32:1) -> i32:7
  ;;= joined(i32:64 i32:1) -> i32:8
  ;;= joined(i32:0 i32:0) -> i32:7
  (func (export "joined") (param $index i32) (param $narrow i32) (result i32)
    (loop $loop
      (if (local.get $narrow) (then (local.set $index (i32.and (local.get $index) (i32.const 255)))))
      (block $a (block $b
        (br_table $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a
          $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a $a
          $a $a $a $a $a $b $a (local.get $index)))
        (return (i32.const 8))))
    (i32.const 7))
)
