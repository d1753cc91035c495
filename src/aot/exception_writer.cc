// SPDX-License-Identifier: Apache-2.0
#include "aot/exception_writer.h"

#include <algorithm>

#include "aot/c_text.h"
#include "aot/embedded_headers.h"

namespace dormouse::aot {
namespace {

// A setjmp of the engine's own: libc's hides the registers from attackers that could write to it,
// which the guest cannot, and asks on the way back what threads have to clean up.
constexpr std::string_view kExceptionServices = R"c(
struct DormouseHandler* dormouse_handler;
struct DormouseException dormouse_thrown;
DM_HIDDEN __attribute__((noreturn)) void dormouse_arrive(struct DormouseHandler* handler);

void dormouse_raise(void) {
  if (!dormouse_handler) dormouse_trap(DORMOUSE_TRAP_EXCEPTION);
  dormouse_arrive(dormouse_handler);
}

__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl dormouse_try\n"
    ".hidden dormouse_try\n"
    ".type dormouse_try, @function\n"
    "dormouse_try:\n"
    "  movq (%rsp), %rax\n"
    "  leaq 8(%rsp), %rdx\n"
    "  movq %rbx, (%rdi)\n"
    "  movq %rbp, 8(%rdi)\n"
    "  movq %r12, 16(%rdi)\n"
    "  movq %r13, 24(%rdi)\n"
    "  movq %r14, 32(%rdi)\n"
    "  movq %r15, 40(%rdi)\n"
    "  movq %rdx, 48(%rdi)\n"
    "  movq %rax, 56(%rdi)\n"
    "  movq %rdi, dormouse_handler(%rip)\n"
    "  xorl %eax, %eax\n"
    "  retq\n"
    ".size dormouse_try, . - dormouse_try\n"
    ".globl dormouse_arrive\n"
    ".hidden dormouse_arrive\n"
    ".type dormouse_arrive, @function\n"
    "dormouse_arrive:\n"
    "  movq (%rdi), %rbx\n"
    "  movq 8(%rdi), %rbp\n"
    "  movq 16(%rdi), %r12\n"
    "  movq 24(%rdi), %r13\n"
    "  movq 32(%rdi), %r14\n"
    "  movq 40(%rdi), %r15\n"
    "  movq 48(%rdi), %rsp\n"
    "  movl $1, %eax\n"
    "  jmpq *56(%rdi)\n"
    ".size dormouse_arrive, . - dormouse_arrive\n");
)c";

}  // namespace

Result<std::string> WriteExceptionHeader(const wabt::Module& module) {
  if (!HasExceptions(module)) return std::string();
  std::size_t most = 1;
  for (const wabt::Tag* tag : module.tags) {
    DORMOUSE_TRY(SignatureText(tag->decl.sig));
    most = std::max<std::size_t>(most, tag->decl.sig.param_types.size());
  }
  return Text("\n#define DM_EXCEPTION_VALUES ", most, "\n", kExceptionRuntimeHeader);
}

std::string_view ExceptionServices() { return kExceptionServices; }

std::string EntryFromHost(const ModuleContext& context, wabt::Index function,
                          const std::string& name) {
  const wabt::FuncSignature& signature = context.module().funcs[function]->decl.sig;
  std::string parameters;
  std::string arguments;
  for (std::size_t i = 0; i < signature.param_types.size(); ++i) {
    Append(parameters, i == 0 ? "" : ", ", CTypeName(signature.param_types[i]), " l", i);
    Append(arguments, i == 0 ? "l" : ", l", i);
  }
  return Text("static ", context.ResultType(signature), " ", name, "(",
              parameters.empty() ? "void" : parameters, ") {\n  dormouse_handler = 0;\n  ",
              signature.result_types.empty() ? "" : "return ", context.FunctionName(function), "(",
              arguments, ");\n}\n");
}

}  // namespace dormouse::aot
