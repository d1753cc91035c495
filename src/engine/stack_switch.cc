// SPDX-License-Identifier: Apache-2.0
#include "engine/stack_switch.h"

// SAFETY: the entry pushes exactly what the exit pops, and rbx, which holds the host's stack
// pointer during the call, is preserved by every function of the ABI.
asm(R"(
  .text
  .p2align 4
  .globl DormouseEnterGuestStack
  .hidden DormouseEnterGuestStack
  .type DormouseEnterGuestStack, @function
DormouseEnterGuestStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rcx)
  movq %rsp, %rbx
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsp
  xorl %ebp, %ebp
  callq *%rax
  movq %rbx, %rsi
  xorl %edi, %edi
  .size DormouseEnterGuestStack, . - DormouseEnterGuestStack

  .globl DormouseLeaveGuestStack
  .hidden DormouseLeaveGuestStack
  .type DormouseLeaveGuestStack, @function
DormouseLeaveGuestStack:
  movl %edi, %eax
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size DormouseLeaveGuestStack, . - DormouseLeaveGuestStack
)");
