;; SPDX-License-Identifier: Apache-2.0
;; Loads, stores, bulk memory, growth. Some comments are tests, run in order; see numeric.wat.
(module
  (memory 1 3)
  (data (i32.const 4) "\01\02\03\04\ff\fe\fd\fc")
  (data $passive "passive!")
  ;;= load32(i32:4) -> i32:0x04030201
  ;;= load32(i32:5) -> i32:0xff040302
  ;;= load32(i32:65532) -> i32:0
  ;;= load32(i32:65533) !! out of bounds memory access
  ;;= load32(i32:-1) !! out of bounds memory access
  (func (export "load32") (param i32) (result i32) (i32.load (local.get 0)))
  ;;= load_far(i32:0) !! out of bounds memory access
  ;;= load_far(i32:-1) !! out of bounds memory access
  (func (export "load_far") (param i32) (result i32) (i32.load offset=0xffffffff (local.get 0)))
  ;;= load8_s(i32:0) -> i32:-1
  (func (export "load8_s") (param i32) (result i32) (i32.load8_s offset=8 (local.get 0)))
  ;;= load8_u(i32:0) -> i64:255
  (func (export "load8_u") (param i32) (result i64) (i64.load8_u offset=8 (local.get 0)))
  ;;= load16_s(i32:8) -> i64:0xfffffffffffffeff
  (func (export "load16_s") (param i32) (result i64) (i64.load16_s (local.get 0)))
  ;;= load32_s(i32:8) -> i64:0xfffffffffcfdfeff
  (func (export "load32_s") (param i32) (result i64) (i64.load32_s (local.get 0)))
  ;;= store8(i32:20 i64:0x1234) -> i64:0x34
  (func (export "store8") (param i32 i64) (result i64)
    (i64.store8 (local.get 0) (local.get 1)) (i64.load (local.get 0)))
  ;;= store_f64(i32:33 f64:0x7ff4000000000001) -> i64:0x7ff4000000000001
  (func (export "store_f64") (param i32 f64) (result i64)
    (f64.store (local.get 0) (local.get 1)) (i64.load (local.get 0)))
  ;; Overlapping moves, checked as a whole.
  ;;= copy(i32:5 i32:4 i32:4) -> i32:0x03020101
  ;;= copy(i32:65535 i32:0 i32:2) !! out of bounds memory access
  ;;= copy(i32:65536 i32:65536 i32:0) -> i32:0x03020101
  ;;= copy(i32:65537 i32:0 i32:0) !! out of bounds memory access
  (func (export "copy") (param i32 i32 i32) (result i32)
    (memory.copy (local.get 0) (local.get 1) (local.get 2)) (i32.load (i32.const 4)))
  ;;= fill(i32:4 i32:0x1aa i32:2) -> i32:0x0302aaaa
  ;;= fill(i32:65535 i32:1 i32:2) !! out of bounds memory access
  (func (export "fill") (param i32 i32 i32) (result i32)
    (memory.fill (local.get 0) (local.get 1) (local.get 2)) (i32.load (i32.const 4)))
  ;;= init(i32:100 i32:4 i32:4) -> i32:0x21657669
  ;;= init(i32:100 i32:5 i32:4) !! out of bounds memory access
  (func (export "init") (param i32 i32 i32) (result i32)
    (memory.init $passive (local.get 0) (local.get 1) (local.get 2)) (i32.load (i32.const 100)))
  ;;= drop_segment() -> i32:0
  (func (export "drop_segment") (result i32) (data.drop $passive) (i32.const 0))
  ;;= init(i32:100 i32:0 i32:1) !! out of bounds memory access
  ;;= init(i32:100 i32:0 i32:0) -> i32:0x21657669
  ;;= grow(i32:0) -> i32:1
  ;;= grow(i32:2) -> i32:1
  ;;= grow(i32:1) -> i32:-1
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  ;;= size() -> i32:3
  (func (export "size") (result i32) (memory.size))
  ;;= load32(i32:196604) -> i32:0
  ;;= load32(i32:196605) !! out of bounds memory access
  ;; Names of libc's functions, which the host's replace.
  ;;= length(i32:104) -> i32:0
  ;;= length(i32:100) -> i32:4
  (func $strlen (export "length") (param i32) (result i32) (unreachable))
  ;;= find(i32:100 i32:0x76 i32:4) -> i32:101
  ;;= find(i32:100 i32:0x77 i32:4) -> i32:0
  (func $memchr (export "find") (param i32 i32 i32) (result i32) (unreachable))
  ;;= compare(i32:100 i32:101 i32:4) -> i32:-1
  ;;= compare(i32:100 i32:100 i32:4) -> i32:0
  ;;= compare(i32:0 i32:196608 i32:1) !! out of bounds memory access
  (func $memcmp (export "compare") (param i32 i32 i32) (result i32) (unreachable))
  ;; The same name with another type is another function.
  ;;= own_memset(i32:1) -> i32:2
  (func $memset (export "own_memset") (param i32) (result i32)
    (i32.add (local.get 0) (i32.const 1)))
)
