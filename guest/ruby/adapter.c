// SPDX-License-Identifier: Apache-2.0
// The exports of docs/engine-abi.md in terms of what the prebuilt interpreter exports; see src/aot/adapter.h.
//
// All state is in linear memory, the adapter's own too: a few words at its very bottom, which is the end of the
// shadow stack, where nothing is before the stack has overflown. What a run does is Ruby: driver/dormouse.rb.
//
// The interpreter's stack is the native one here, and only unwound when it must be in linear memory: when a fiber is left.
// setjmp copies variables instead (src/aot/emit_setjmp.cc), and the garbage collector reads the native stack.
#include "engine_adapter.h"

#include <string.h>

DORMOUSE_SETJMP(_rb_wasm_setjmp)
DORMOUSE_CONSTANT(ruby_xmalloc, 24600)
DORMOUSE_WRAPS(ruby_xfree)
DORMOUSE_REPLACES(asyncify_start_unwind)
DORMOUSE_REPLACES(asyncify_stop_rewind)
DORMOUSE_REPLACES(rb_wasm_scan_locals)
DORMOUSE_REPLACES(rb_wasm_swapcontext)
DORMOUSE_REPLACES(rb_get_next_signal)
DORMOUSE_REPLACES(_rb_js_eval_js)
DORMOUSE_REPLACES(dup)
DORMOUSE_REPLACES(dup2)
DORMOUSE_REPLACES(flock)
DORMOUSE_REPLACES(chmod)
DORMOUSE_REPLACES(chown)
DORMOUSE_REPLACES(fchmod)
DORMOUSE_WRAPS(fstat)
DORMOUSE_WRAPS(__wasilibc_nocwd_fstatat)
DORMOUSE_USES(__wasilibc_find_relpath_alloc)
DORMOUSE_REPLACES(__clock)
DORMOUSE_WRAPS(__nl_langinfo)
DORMOUSE_REPLACES(__internal_wasi_vfs_rt_init)
DORMOUSE_WRAPS(mmap)
DORMOUSE_WRAPS(rb_execution_context_mark)
DORMOUSE_USES(rb_abi_guest_ruby_init)
DORMOUSE_USES(rb_abi_guest_rb_eval_string_protect)
DORMOUSE_USES(rb_gc_mark_maybe)
DORMOUSE_USES(rb_mark_locations)
DORMOUSE_USES(rb_utf8_str_new)
DORMOUSE_REPLACES(rb_wasm_handle_jmp_unwind)
DORMOUSE_USES(ruby_xmalloc)
DORMOUSE_USES(malloc)
DORMOUSE_USES(free)

enum {
  // Addresses of the adapter's words.
  kStop = 64,      // set by the host: stop soon
  kArmed = 68,     // 1 while user code runs
  kRequest = 72,   // the buffer of the next request
  kLength = 76,    // and how much of it is used
  kScan = 80,      // a buffer for the garbage collector, 0 if the interpreter's suffices
  kScanned = 84,   // how much of that was used since the run began
  kJumpSpace = 88, // where the frames that a jump leaves are unwound to, 0 if the interpreter's space suffices
  kCodeset = 112,  // its name
  kText = 96,      // address and length of a text
  kResult = 104,   // result of an evaluation
  kScratch = 128,
};

// Variables of the interpreter that it does not export, and layouts. They are right for the one module whose checksum is
// in `pins`; README.md says how to find them in another. Boot checks what it can.
enum {
  kCurrentEc = 21122160,     // ruby_current_ec
  kEcInterruptFlag = 16,
  kTrapInterrupt = 8,
  kSignalCounts = 21121144,  // of pending signals, by number
  kSignals = 21121404,       // their sum
  kSignalCount = 65,
  kSigint = 2,
  kErrno = 21178768,
  kScanBuffer = 21123552,    // asyncify's buffer of rb_wasm_scan_locals: top, end, 24 KiB
  kJumpBuffer = 21148156,    // that of _rb_wasm_longjmp
  kActiveJump = 21148148,    // the jmp_buf of the jump that is under way
  kUnwindBuffer = 21148152,  // asyncify's buffer while unwinding
  kNextFiber = 21123548,
  kPackedFiles = 21094176,   // the module's own file system over /usr
  kNoPackedFiles = 1u << 31,
  kBufferBytes = 24576,      // of each buffer
  kFirstObject = 16777216,   // the stack is below
};

// In a jmp_buf.
enum { kJumpValue = 24592, kJumpState = 24596, kJumpCaptured = 2, kJumpReturning = 3 };

// In a fiber: rb_execution_context_t, and the context that rb_wasm_swapcontext knows, with asyncify's buffer.
enum {
  kFiberEc = 48,
  kFiberContext = 49384,
  kContextBuffer = 12,
  kContextRewinding = 24596,
  kContextStarted = 24597,
};

// Values, and strings.
enum { kNil = 2, kStringLength = 12, kStringText = 16, kNotEmbedded = 8192 };

enum { kSuccess = 0, kFailed = 1, kEmitError = 2, kNoMemory = 48 };

static u32 Word(u32 address) { return DM_AT(u32, address, 0u); }
static void SetWord(u32 address, u32 value) { DM_AT(u32, address, 0u) = value; }
static char* Bytes(u32 address) { return (char*)DM_ADDRESS(address, 0u); }

// ── the native stack

// Where the stack of the call from the host begins. Of no use after it, and set anew by each.
static u64 stack_base;

#define ENTER() stack_base = (u64)__builtin_frame_address(0)

static u64 StackPointer(void) {
  u64 pointer;
  __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
  return pointer;
}

// What asyncify needs at most for the frames of the stack: it saves the variables that live across a call, which are
// somewhere on the stack too, and a word for each function. Some variables are in several frames there and once here.
static u32 UnwoundBytes(void) {
  const u64 depth = stack_base - StackPointer();
  return depth < (1u << 28) ? (u32)(3 * depth) + 4096 : 1u << 30;
}

// No room for what cannot be done without: the host must see that memory was asked for and refused.
static void OutOfMemory(void) {
  dormouse_memory_grow(65536);
  dormouse_trap(DORMOUSE_TRAP_UNREACHABLE);
}

static void SetBuffer(u32 buffer, u32 begin, u32 size) {
  SetWord(buffer, begin);
  SetWord(buffer + 4, begin + size);
}

// A new buffer for the frames of the stack, or 0 if the usual one is large enough.
static u32 NewSpace(u32* size) {
  *size = UnwoundBytes();
  if (*size <= kBufferBytes) return 0;
  const u32 space = module_malloc(*size);
  if (space == 0) OutOfMemory();
  return space;
}

// ── asyncify

static void FreeJumpSpace(void) {
  if (Word(kJumpSpace) == 0) return;
  module_free(Word(kJumpSpace));
  SetWord(kJumpSpace, 0);
}

void module_asyncify_start_unwind(u32 buffer) {
  if (buffer == kJumpBuffer) {
    // What is written there is never read.
    u32 size;
    FreeJumpSpace();
    SetWord(kJumpSpace, NewSpace(&size));
    if (Word(kJumpSpace) != 0) SetBuffer(buffer, Word(kJumpSpace), size);
  }
  if (Word(buffer) > Word(buffer + 4)) dormouse_trap(DORMOUSE_TRAP_UNREACHABLE);
  g_global1 = 1;
  g_global2 = buffer;
}

void module_asyncify_stop_rewind(void) {
  if (Word(g_global2) > Word(g_global2 + 4)) dormouse_trap(DORMOUSE_TRAP_UNREACHABLE);
  g_global1 = 0;
  FreeJumpSpace();
}

// ── setjmp and longjmp

// Of a jmp_buf only the last few bytes are used, but each call from C to Ruby allocates a whole one. Its memory begins
// there, and its address is told from others by being no multiple of 8.
enum { kJumpUnused = 24572, kJumpBytes = 32 };

u32 ruby_xmalloc_24600(void) {
  const u32 block = module_malloc(kJumpBytes);
  return block != 0 ? block - kJumpUnused : module_ruby_xmalloc(24600);
}

void module_ruby_xfree(u32 address) {
  if (address % 8 == 4) {
    module_free(address + kJumpUnused);
  } else {
    original_ruby_xfree(address);
  }
}

u32 dormouse_jump_begin(u32 buffer) {
  SetWord(buffer + kJumpState, kJumpCaptured);
  SetWord(buffer + kJumpValue, 0);
  return g___stack_pointer;
}

u32 dormouse_jump_enter(u32 size) {
  if (g_global1 != 2) return 0;
  SetWord(g_global2, Word(g_global2) - size);
  return Word(g_global2);
}

u32 dormouse_jump_unwinding(void) { return g_global1 == 1; }

u32 dormouse_jump_target(void) {
  const u32 active = Word(kActiveJump);
  return active != 0 && Word(active + kJumpState) == kJumpReturning ? active : 0;
}

u32 dormouse_jump_arrive(u32 buffer, u32 kept) {
  SetWord(buffer + kJumpState, kJumpCaptured);
  SetWord(kActiveJump, 0);
  SetWord(kUnwindBuffer, 0);
  g___stack_pointer = kept;
  module_asyncify_stop_rewind();
  return Word(buffer + kJumpValue);
}

u32 dormouse_jump_leave(u32 size) {
  const u32 at = Word(g_global2);
  SetWord(g_global2, at + size);
  return at;
}

// A jump that has left all frames goes to a function that has returned, which C forbids and callcc does.
u32 module_rb_wasm_handle_jmp_unwind(void) {
  if (Word(kActiveJump) != 0) dormouse_trap(DORMOUSE_TRAP_UNREACHABLE);
  return 0;
}

// ── fibers

void module_rb_wasm_swapcontext(u32 from, u32 to) {
  const u32 buffer = from + kContextBuffer, usual = buffer + 8;
  if (DM_AT(u8, from, kContextRewinding) != 0) {
    module_asyncify_stop_rewind();
    DM_AT(u8, from, kContextRewinding) = 0;
    if (Word(buffer) != usual) module_free(Word(buffer));
    SetBuffer(buffer, usual, kBufferBytes);
    return;
  }
  u32 size;
  const u32 space = NewSpace(&size);
  if (space != 0) {
    SetWord(usual, space);
    SetBuffer(buffer, space, size);
  } else {
    SetBuffer(buffer, usual, kBufferBytes);
  }
  SetWord(kNextFiber, to);
  SetWord(kUnwindBuffer, buffer);
  module_asyncify_start_unwind(buffer);
}

// The variables of a suspended fiber are in asyncify's buffer, in frames that the interpreter does not look at.
void module_rb_execution_context_mark(u32 ec) {
  original_rb_execution_context_mark(ec);
  if (ec == Word(kCurrentEc)) return;
  const u32 context = ec - kFiberEc + kFiberContext, buffer = context + kContextBuffer;
  if (DM_AT(u8, context, kContextStarted) == 0) return;
  const u32 top = Word(buffer), end = Word(buffer + 4), usual = buffer + 8;
  const u32 begin = end == usual + kBufferBytes ? usual : Word(usual);
  if (top > end || end > dormouse_pages << 16) return;
  for (u32 at = begin; at < top; at += 4) module_rb_gc_mark_maybe(Word(at));
}

// ── the garbage collector's roots

static int MayBeObject(u32 word, u32 end) { return word >= kFirstObject && word < end && word % 4 == 0; }

// Hands out the words of the native stack that could be objects; registers are spilled to it. The base of linear memory is
// part of each access's instruction, so that addresses of objects are on the stack as the module knows them.
__attribute__((noinline)) void module_rb_wasm_scan_locals(u32 callback) {
  __builtin_unwind_init();
  const u64 begin = StackPointer() & ~7ull;
  const u32 end = dormouse_pages << 16;
  const u32 bytes = (u32)(stack_base - begin);
  module_free(Word(kScan));
  SetWord(kScan, 0);
  u32 space = kScanBuffer + 8;
  if (bytes > kBufferBytes) {
    space = module_malloc(bytes);
    if (space == 0) OutOfMemory();
    SetWord(kScan, space);
  }
  u32 count = 0;
  for (u64 at = begin; at < stack_base; at += 4) {
    const u32 word = *(volatile const u32*)at;
    if (!MayBeObject(word, end)) continue;
    SetWord(space + 4 * count, word);
    ++count;
  }
  if (space == kScanBuffer + 8 && Word(kScanned) < 4 * count) SetWord(kScanned, 4 * count);
  module_rb_mark_locations(space, space + 4 * count);
}

// What was on the stack is nothing for a snapshot.
static void ForgetScan(void) {
  module_free(Word(kScan));
  SetWord(kScan, 0);
  memset(Bytes(kScanBuffer + 8), 0, Word(kScanned));
  SetWord(kScanned, 0);
}

// ── stopping
//
// The host sets kStop and the trap flag of the current fiber; the interpreter, which polls that at loops, branches and
// calls, asks for the next signal, and raises Interrupt for SIGINT.

u32 module_rb_get_next_signal(void) {
  if (Word(kStop) != 0) {
    SetWord(kStop, 0);
    if (Word(kArmed) != 0) return kSigint;
  }
  if (Word(kSignals) == 0) return 0;
  for (u32 signal = 1; signal < kSignalCount; ++signal) {
    const u32 address = kSignalCounts + 4 * signal;
    if (Word(address) == 0) continue;
    SetWord(address, Word(address) - 1);
    SetWord(kSignals, Word(kSignals) - 1);
    return signal;
  }
  return 0;
}

// ── what the C library lacks

static u32 Failed(u32 error) {
  SetWord(kErrno, error);
  return UINT32_MAX;
}

u32 module_dup(u32 file) {
  const u32 error = host_dormouse_fd_dup(file, 0, kScratch);
  return error == 0 ? Word(kScratch) : Failed(error);
}

u32 module_dup2(u32 file, u32 wanted) {
  if (file == wanted) return wanted;
  const u32 copy = module_dup(file);
  if (copy == UINT32_MAX) return copy;
  if (copy == wanted) return wanted;
  const u32 error = import_wasi_snapshot_preview1_fd_renumber(copy, wanted);
  return error == 0 ? wanted : Failed(error);
}

// The module lays files of its own over the host's, under descriptors that could be those of others. It is better off
// without. Called before any file is.
void module___internal_wasi_vfs_rt_init(void) { SetWord(kPackedFiles, kNoPackedFiles); }

// CPU time, in nanoseconds; the module's is the time since its start.
u64 module___clock(void) {
  enum { kProcessCpu = 2 };
  return import_wasi_snapshot_preview1_clock_time_get(kProcessCpu, 1, kScratch) == 0 ? DM_AT(u64, kScratch, 0u) : 0;
}

// The encoding of the environment and of what comes from outside. The module never calls setlocale.
u32 module___nl_langinfo(u32 item) {
  enum { kCodesetItem = 14 };
  if (item != kCodesetItem) return original___nl_langinfo(item);
  memcpy(Bytes(kCodeset), "UTF-8", 6);
  return kCodeset;
}

// The interpreter asks for 256 MiB of address space as a cache of large classes, which would count as memory here, and does
// without if there are none.
u32 module_mmap(u32 address, u32 length, u32 protection, u32 flags, u32 file, u64 offset) {
  enum { kCacheBytes = 1 << 28 };
  if (length == kCacheBytes && file == UINT32_MAX) return Failed(kNoMemory);
  return original_mmap(address, length, protection, flags, file, offset);
}

// Permission bits, which WASI lacks.
enum { kStatMode = 24, kFollow = 1, kNoFollow = 1 };

static void AddMode(u32 status, u32 error) {
  if (error == 0) SetWord(status + kStatMode, Word(status + kStatMode) | Word(kScratch));
}

u32 module_fstat(u32 file, u32 status) {
  const u32 result = original_fstat(file, status);
  if (result == 0 && g_global1 == 0) AddMode(status, host_dormouse_fd_mode_get(file, kScratch));
  return result;
}

u32 module___wasilibc_nocwd_fstatat(u32 directory, u32 path, u32 status, u32 flags) {
  const u32 result = original___wasilibc_nocwd_fstatat(directory, path, status, flags);
  if (result != 0 || g_global1 != 0) return result;
  const u32 follow = (flags & kNoFollow) != 0 ? 0 : kFollow;
  AddMode(status, host_dormouse_path_mode_get(directory, follow, path, (u32)strlen(Bytes(path)), kScratch));
  return result;
}

u32 module_fchmod(u32 file, u32 mode) {
  const u32 error = host_dormouse_fd_chmod(file, mode & 07777);
  return error == 0 ? 0 : Failed(error);
}

u32 module_chmod(u32 path, u32 mode) {
  memset(Bytes(kScratch), 0, 12);
  const u32 directory = module___wasilibc_find_relpath_alloc(path, kScratch, kScratch + 4, kScratch + 8, 1);
  if (directory == UINT32_MAX) return UINT32_MAX;
  const u32 relative = Word(kScratch + 4);
  const u32 error =
      host_dormouse_path_chmod(directory, kFollow, relative, (u32)strlen(Bytes(relative)), mode & 07777);
  module_free(relative);
  return error == 0 ? 0 : Failed(error);
}

// There is one user.
u32 module_chown(u32 path, u32 user, u32 group) { return 0; }

// Nobody else has the file.
u32 module_flock(u32 file, u32 operation) { return 0; }

// ── what the driver calls: JS.eval, whose C part the module has for another host
//
// The first byte of the text says what to do, the rest is an argument.

u32 module__rb_js_eval_js(u32 self, u32 text) {
  const u32 length = DM_AT(u32, text, kStringLength);
  const u32 bytes = (Word(text) & kNotEmbedded) != 0 ? DM_AT(u32, text, kStringText) : text + kStringText;
  if (length == 0) return kNil;
  const u8 what = DM_AT(u8, bytes, 0u);
  switch (what) {
    case '1':
    case '2':
    case '3':
      host_dormouse_emit(what - '0', bytes + 1, length - 1);
      return kNil;
    case 'a':
      SetWord(kArmed, 1);
      return kNil;
    case 'd':
      SetWord(kArmed, 0);
      return kNil;
    case 'r':
      return module_rb_utf8_str_new(Word(kRequest), Word(kLength));
  }
  return kNil;
}

// There is no JavaScript: what else the bridge could ask for is never reached, since nobody has it.
#define NO_JAVASCRIPT(result, name, parameters) \
  result name parameters { dormouse_trap(DORMOUSE_TRAP_UNREACHABLE); }
NO_JAVASCRIPT(void, w_rb_wasm_throw_prohibit_rewind_exception, (u32 a0, u32 a1))
NO_JAVASCRIPT(void, w___resource_js_abi_value_drop, (u32 a0))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_eval_js, (u32 a0, u32 a1, u32 a2))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_is_js, (u32 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_instance_of, (u32 a0, u32 a1))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_global_this, (void))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_int_to_js_number, (u32 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_float_to_js_number, (f64 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_string_to_js_string, (u32 a0, u32 a1))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_bool_to_js_bool, (u32 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_proc_to_js_function, (u32 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_rb_object_to_js_rb_value, (u32 a0))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_js_value_to_string, (u32 a0, u32 a1))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_js_value_to_integer, (u32 a0, u32 a1))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_export_js_value_to_host, (u32 a0))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_import_js_value_from_host, (void))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_js_value_typeof, (u32 a0, u32 a1))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_js_value_equal, (u32 a0, u32 a1))
NO_JAVASCRIPT(u32, w___wasm_import_rb_js_abi_host_js_value_strictly_equal, (u32 a0, u32 a1))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_reflect_apply, (u32 a0, u32 a1, u32 a2, u32 a3, u32 a4))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_reflect_get, (u32 a0, u32 a1, u32 a2, u32 a3))
NO_JAVASCRIPT(void, w___wasm_import_rb_js_abi_host_reflect_set, (u32 a0, u32 a1, u32 a2, u32 a3, u32 a4))

// Handles of values are the values.
u32 import_canonical_abi_resource_new_rb_abi_value(u32 value) { return value; }
u32 import_canonical_abi_resource_get_rb_abi_value(u32 handle) { return handle; }

// The interpreter leaves by exit only when it cannot go on, which is when memory runs out.
void import_wasi_snapshot_preview1_proc_exit(u32 code) { OutOfMemory(); }

// Nothing calls back.
void dormouse_hook(void) {}

// ── the exports

static u32 Evaluate(const char* code) {
  const u32 length = (u32)strlen(code);
  const u32 text = module_malloc(length + 1);
  if (text == 0) return kFailed;
  memcpy(Bytes(text), code, length + 1);
  SetWord(kText, text);
  SetWord(kText + 4, length);
  SetWord(kResult + 4, 0);
  module_rb_abi_guest_rb_eval_string_protect(kText, kResult);
  module_free(text);
  return Word(kResult + 4);
}

static void EmitFailure(void) {
  static const char kMessage[] = "{\"name\":\"Error\",\"message\":\"the driver failed\",\"traceback\":[]}";
  memcpy(Bytes(kScratch), kMessage, sizeof(kMessage));
  host_dormouse_emit(kEmitError, kScratch, sizeof(kMessage) - 1);
}

u32 dormouse_boot(void) {
  static const char* const kArguments[] = {"ruby", "--disable-gems", "--disable-error_highlight", "-EUTF-8:", "-e_=0"};
  enum { kCount = sizeof(kArguments) / sizeof(kArguments[0]) };
  ENTER();
  const u32 list = module_malloc(8 * kCount);
  for (u32 i = 0; i < kCount; ++i) {
    const u32 length = (u32)strlen(kArguments[i]), text = module_malloc(length + 1);
    memcpy(Bytes(text), kArguments[i], length + 1);
    SetWord(list + 8 * i, text);
    SetWord(list + 8 * i + 4, length);
  }
  SetWord(kText, list);
  SetWord(kText + 4, kCount);
  module_rb_abi_guest_ruby_init(kText);
  const u32 status = Evaluate("begin; require '/usr/lib/dormouse/dormouse'; ::Dormouse.boot;"
                              "rescue Exception => e; STDERR.puts e.full_message(highlight: false); raise; end");
  ForgetScan();
  if (status == 0) return kSuccess;
  EmitFailure();
  return kFailed;
}

u32 dormouse_alloc(u32 size) {
  ENTER();
  module_free(Word(kRequest));
  const u32 address = module_malloc(size > 0 ? size : 1);
  SetWord(kRequest, address);
  return address;
}

u32 dormouse_run(u32 address, u32 length) {
  ENTER();
  SetWord(kLength, length);
  const u32 status = Evaluate("::Dormouse.run");
  module_free(Word(kRequest));
  SetWord(kRequest, 0);
  SetWord(kArmed, 0);
  SetWord(kStop, 0);
  ForgetScan();
  if (status == 0) return kSuccess;
  EmitFailure();
  return kFailed;
}

void dormouse_reseed(void) {
  ENTER();
  Evaluate("::Dormouse.reseed");
  ForgetScan();
}

u32 dormouse_interrupt_table(void) {
  static const u32 kTable[] = {2, kStop, 4, 0, 1, kCurrentEc, 4, 2 | kEcInterruptFlag << 8, kTrapInterrupt};
  const u32 table = module_malloc(sizeof(kTable));
  memcpy(Bytes(table), kTable, sizeof(kTable));
  return table;
}
