// SPDX-License-Identifier: Apache-2.0
// The exports of docs/engine-abi.md in terms of what the prebuilt interpreter exports; see src/aot/adapter.h.
//
// All state is in linear memory, the adapter's own too: a few words at its very bottom, which is the end of the
// shadow stack, where nothing is before the stack has overflown. What a run does is Perl: driver/Dormouse.pm.
#include "engine_adapter.h"

#include <string.h>

// The module has no names. These numbers are right for the one whose checksum is in `pins`; README.md says how to find
// them in another.
DORMOUSE_USES(f1563)
DORMOUSE_USES(f2370)
DORMOUSE_WRAPS(f2353)
DORMOUSE_WRAPS(f2371)
#define Croak module_f1563                       // Perl_croak(format, arguments)
#define FindRelativePath module_f2370            // (path, &prefix, &relative, &size of its buffer), a directory or -1
#define FileStatus module_f2353                  // fstat(file, status)
#define OriginalFileStatus original_f2353
#define PathStatus module_f2371                  // fstatat(directory, path, status, flags)
#define OriginalPathStatus original_f2371

enum {
  // Addresses of the adapter's words.
  kRequest = 64,    // the buffer of the next request
  kRunCode = 68,    // what is evaluated to run a cell
  kReseedCode = 72,
  kStopText = 76,   // the message of a stop
  kArmed = 128,     // 1 while user code runs
  kScratch = 80,    // results of the module's functions
};

// Variables of the interpreter that it does not export, of that module too.
enum {
  kSigPending = 29956560,  // PL_sig_pending: polled between statements and in loops
  kSignalHook = 29764156,  // PL_signalhook: what is called then
  kEndBlocks = 29990376,   // PL_endav: the END blocks, the last one first
  kRelativePath = 30056588,  // what the C library gives FindRelativePath; the size of its buffer follows
};

enum { kSuccess = 0, kFailed = 1, kContextVoid = 0, kEmitError = 2 };

// The functions that the driver calls, by the numbers under which the module knows them.
enum { kEmit = 1, kPad = 2, kFlush = 3, kArm = 4, kCpuTime = 5, kDup = 6, kChmod = 7, kEnds = 8 };

static u32 Word(u32 address) { return DM_AT(u32, address, 0u); }
static void SetWord(u32 address, u32 value) { DM_AT(u32, address, 0u) = value; }
static char* Bytes(u32 address) { return (char*)DM_ADDRESS(address, 0u); }

// A copy of a C string in linear memory; 0 when there is no room.
static u32 NewText(const char* text) {
  const u32 size = (u32)strlen(text) + 1;
  const u32 address = module_malloc(size);
  if (address != 0) memcpy(Bytes(address), text, size);
  return address;
}

// ── values: the module's handles are pointers to cells that hold an SV*

enum { kSvCount = 4 };

static u32 NewHandle(u32 sv) {
  const u32 handle = module_malloc(4);
  SetWord(handle, sv);
  return handle;
}

// A value that a call from Perl returns: that adds a reference of its own and drops only that.
static u32 Returned(u32 value) {
  const u32 sv = Word(value);
  SetWord(sv + kSvCount, Word(sv + kSvCount) - 1);
  return value;
}

static void PushAndFree(u32 array, u32 value) {
  module_zeroperl_array_push(array, value);
  module_zeroperl_value_free(value);
}

static void PushText(u32 array, u32 text, u32 length) {
  PushAndFree(array, module_zeroperl_new_string(text, length));
}

// ── lexical variables
//
// Layouts of Perl 5.42 for wasm32 without threads, with 64-bit integers. Boot checks them (CheckLayout in the driver).

enum {
  kSvAny = 0,
  kSvRv = 16,
  kCvFile = 40,
  kCvPadlist = 44,
  kCvOutside = 48,
  kPadlistArray = 4,
  kPadnamesFill = 0,
  kPadnamesArray = 4,
  kAvFill = 8,
  kAvArray = 16,
  kPadnameText = 0,
  kPadnameStash = 4,
  kPadnameLow = 16,
  kPadnameHigh = 20,
  kPadnameLength = 32,
  kPadnameFlags = 33,
  kPadnameOuter = 1,
};

static u32 Body(u32 sv) { return Word(sv + kSvAny); }

// The names that are declared at the outermost level of what has just been compiled, as a flat list of name, address of
// the package (0 for `my`) and reference to the variable (undef for `our`). `closure` is a reference to a sub that was
// compiled in a block (UNITCHECK) of that code; the first name declared there must be of the outermost level.
static u32 ListPad(u32 closure) {
  const u32 sub = Word(closure + kSvRv);
  const u32 block = Word(Body(sub) + kCvOutside);
  const u32 unit = Word(Body(block) + kCvOutside);
  const u32 padlist = Word(Word(Body(unit) + kCvPadlist) + kPadlistArray);
  const u32 names = Word(padlist), pad = Word(Word(padlist + 4) + kAvArray);
  const u32 list = Word(names + kPadnamesArray), count = Word(names + kPadnamesFill) + 1;
  const u32 array = module_zeroperl_new_array();
  u32 end = 0;
  for (u32 i = 0; i < count; ++i) {
    const u32 name = Word(list + 4 * i);
    if (name == 0 || Word(name + kPadnameText) == 0 || DM_AT(u8, name, kPadnameLength) == 0) continue;
    if (DM_AT(u8, name, kPadnameFlags) & kPadnameOuter) continue;
    const u32 high = Word(name + kPadnameHigh), stash = Word(name + kPadnameStash);
    if (end == 0) end = high;
    if (high != end) continue;
    PushText(array, Word(name + kPadnameText), DM_AT(u8, name, kPadnameLength));
    PushAndFree(array, module_zeroperl_new_uint(stash));
    if (stash != 0) {
      PushAndFree(array, module_zeroperl_new_undef());
      continue;
    }
    const u32 variable = NewHandle(Word(pad + 4 * i));
    PushAndFree(array, module_zeroperl_new_ref(variable));
    module_free(variable);
  }
  const u32 value = module_zeroperl_array_to_value(array);
  module_zeroperl_array_free(array);
  return Returned(value);
}

// ── END blocks

// A reference to the list of them and, for each, the name of the file that it was compiled in; undef if there are none.
static u32 ListEndBlocks(void) {
  enum { kMost = 1000, kLongestName = 255 };
  const u32 array = module_zeroperl_new_array();
  const u32 blocks = Word(kEndBlocks);
  if (blocks != 0) {
    const u32 list = NewHandle(blocks);
    PushAndFree(array, module_zeroperl_new_ref(list));
    module_free(list);
    const u32 first = Word(blocks + kSvRv), count = Word(Body(blocks) + kAvFill) + 1;
    for (u32 i = 0; i < count && i < kMost; ++i) {
      const u32 file = Word(Body(Word(first + 4 * i)) + kCvFile);
      PushText(array, file, file == 0 ? 0 : (u32)strnlen(Bytes(file), kLongestName));
    }
  }
  const u32 value = module_zeroperl_array_to_value(array);
  module_zeroperl_array_free(array);
  return Returned(value);
}

// ── permission bits, which WASI lacks

enum { kStatMode = 24, kFollow = 1, kNoFollow = 1, kModeBits = 07777 };

static void AddMode(u32 status, u32 error) {
  if (error == 0) SetWord(status + kStatMode, Word(status + kStatMode) | Word(kScratch));
}

u32 FileStatus(u32 file, u32 status) {
  const u32 result = OriginalFileStatus(file, status);
  if (result == 0) AddMode(status, host_dormouse_fd_mode_get(file, kScratch));
  return result;
}

u32 PathStatus(u32 directory, u32 path, u32 status, u32 flags) {
  const u32 result = OriginalPathStatus(directory, path, status, flags);
  if (result != 0) return result;
  const u32 follow = (flags & kNoFollow) != 0 ? 0 : kFollow;
  const u32 length = (u32)strlen(Bytes(path));
  AddMode(status, host_dormouse_path_mode_get(directory, follow, path, length, kScratch));
  return result;
}

// Returns an error number.
static u32 ChangeMode(u32 path, u32 mode) {
  enum { kNoSuchFile = 44 };
  const u32 directory = FindRelativePath(path, kScratch, kRelativePath, kRelativePath + 4);
  if (directory == UINT32_MAX) return kNoSuchFile;
  const u32 relative = Word(kRelativePath);
  return host_dormouse_path_chmod(directory, kFollow, relative, (u32)strlen(Bytes(relative)), mode);
}

// ── what the driver calls

static u32 ToInt(u32 value) {
  module_zeroperl_to_int(value, kScratch);
  return Word(kScratch);
}

// Layers of the standard handles may be Perl code, which unwinds this function too (see dormouse_hook).
static int FlushIsDone(void) {
  module_zeroperl_flush();
  return module_asyncify_get_state() == 0;
}

u32 import_env_call_host_function(u32 function, u32 count, u32 arguments) {
  switch (function) {
    case kEmit:
      if (count != 2 || !FlushIsDone()) return 0;
      const u32 kind = ToInt(Word(arguments));
      const u32 text = module_zeroperl_to_string(Word(arguments + 4), kScratch);
      host_dormouse_emit(kind, text, Word(kScratch));
      return 0;
    case kPad:
      return count == 1 ? ListPad(Word(Word(arguments))) : 0;
    case kFlush:
      FlushIsDone();
      return 0;
    case kCpuTime:
      if (import_wasi_snapshot_preview1_clock_time_get(2, 1, kScratch) != 0) return 0;
      return Returned(module_zeroperl_new_double((f64)DM_AT(u64, kScratch, 0u) / 1e9));
    case kDup: {
      // The number of a copy of a descriptor, or minus the error.
      const u32 error = count == 1 ? host_dormouse_fd_dup(ToInt(Word(arguments)), 0, kScratch) : 28;
      return Returned(module_zeroperl_new_int(error == 0 ? Word(kScratch) : 0u - error));
    }
    case kChmod: {
      // A path or the number of a descriptor, the mode, and which of both it is.
      if (count != 3) return 0;
      const u32 mode = ToInt(Word(arguments + 4)) & kModeBits, is_path = ToInt(Word(arguments + 8));
      const u32 error = is_path ? ChangeMode(module_zeroperl_to_string(Word(arguments), kScratch), mode)
                                : host_dormouse_fd_chmod(ToInt(Word(arguments)), mode);
      return Returned(module_zeroperl_new_int(error));
    }
    case kEnds:
      return ListEndBlocks();
    case kArm:
      if (count == 1) SetWord(kArmed, ToInt(Word(arguments)));
      return 0;
  }
  return 0;
}

// Perl leaves by exit only when it cannot go on (the driver replaces `exit`), which is when memory runs out. A request
// beyond all bounds fails without one to the host: this one, which is refused, tells it.
void import_wasi_snapshot_preview1_proc_exit(u32 code) {
  dormouse_memory_grow(65536);
  dormouse_trap(DORMOUSE_TRAP_UNREACHABLE);
}

// ── environment at boot: hashes are ordered alike in every boot

static const char kEnvironment[2][24] = {"PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0"};

u32 import_wasi_snapshot_preview1_environ_sizes_get(u32 count, u32 size) {
  SetWord(count, 2);
  SetWord(size, sizeof(kEnvironment));
  return 0;
}

u32 import_wasi_snapshot_preview1_environ_get(u32 list, u32 buffer) {
  memcpy(Bytes(buffer), kEnvironment, sizeof(kEnvironment));
  for (u32 i = 0; i < 2; ++i) SetWord(list + 4 * i, buffer + i * sizeof(kEnvironment[0]));
  return 0;
}

// ── stopping
//
// The host sets PL_sig_pending, and the interpreter calls PL_signalhook. Perl's setjmp and longjmp unwind all frames and
// wind up some of them again by calling everything anew, this function too: nothing in it may depend on how often it
// is called.

void dormouse_hook(void) {
  SetWord(kSigPending, 0);
  if (Word(kArmed) != 0) Croak(Word(kStopText), 0);
}

// ── the exports

static u32 Evaluate(u32 code) { return module_zeroperl_eval(code, kContextVoid, 0, 0); }

static void EmitFailure(void) {
  static const char kText[] = "{\"name\":\"Error\",\"message\":\"the driver failed\",\"traceback\":[]}";
  const u32 text = NewText(kText);
  if (text != 0) host_dormouse_emit(kEmitError, text, sizeof(kText) - 1);
  // For whoever builds the engine.
  const u32 reason = module_zeroperl_last_error();
  const u32 length = (u32)strlen(Bytes(reason));
  SetWord(kScratch, reason);
  SetWord(kScratch + 4, length);
  import_wasi_snapshot_preview1_fd_write(2, kScratch, 1, kScratch + 8);
}

u32 dormouse_boot(void) {
  static const char* const kArguments[] = {"perl", "-e", "0"};
  static const struct {
    u32 number;
    const char* name;
  } kFunctions[] = {{kEmit, "Dormouse::Host::emit"},        {kPad, "Dormouse::Host::pad"},
                    {kFlush, "Dormouse::Host::flush"},      {kArm, "Dormouse::Host::arm"},
                    {kCpuTime, "Dormouse::Host::cpu_time"}, {kDup, "Dormouse::Host::dup"},
                    {kChmod, "Dormouse::Host::chmod"},      {kEnds, "Dormouse::Host::end_blocks"}};
  static const char kBootCode[] =
      "BEGIN { @INC = qw(/usr/lib/dormouse /usr/share/perl /usr/share/perl/wasm32-wasi) } "
      "require Dormouse; Dormouse::boot()";
  const u32 arguments = module_malloc(16);
  for (u32 i = 0; i < 3; ++i) SetWord(arguments + 4 * i, NewText(kArguments[i]));
  SetWord(arguments + 12, 0);
  if (module_zeroperl_init_with_args(3, arguments) != 0) {
    EmitFailure();
    return kFailed;
  }
  for (u32 i = 0; i < sizeof(kFunctions) / sizeof(kFunctions[0]); ++i) {
    module_zeroperl_register_function(kFunctions[i].number, NewText(kFunctions[i].name));
  }
  SetWord(kRequest, 0);
  SetWord(kRunCode, NewText("Dormouse::run($Dormouse::request)"));
  SetWord(kStopText, NewText("interrupted"));
  SetWord(kArmed, 0);
  SetWord(kSignalHook, DORMOUSE_HOOK);
  SetWord(kReseedCode, NewText("Dormouse::reseed()"));
  if (Evaluate(NewText(kBootCode)) != 0) {
    EmitFailure();
    return kFailed;
  }
  return kSuccess;
}

u32 dormouse_alloc(u32 size) {
  module_free(Word(kRequest));
  const u32 address = module_malloc(size > 0 ? size : 1);
  SetWord(kRequest, address);
  return address;
}

static void FreeRequest(void) {
  module_free(Word(kRequest));
  SetWord(kRequest, 0);
}

u32 dormouse_run(u32 address, u32 length) {
  static const char kName[] = "Dormouse::request";
  memcpy(Bytes(kScratch + 16), kName, sizeof(kName));
  const u32 request = module_zeroperl_new_string(address, length);
  module_zeroperl_set_var(kScratch + 16, request);
  module_zeroperl_value_free(request);
  FreeRequest();
  const u32 status = Evaluate(Word(kRunCode));
  if (status == 0) return kSuccess;
  EmitFailure();
  return kFailed;
}

void dormouse_reseed(void) { Evaluate(Word(kReseedCode)); }

u32 dormouse_interrupt_table(void) {
  static const u32 kTable[] = {1, kSigPending, 4, 0, 1};
  const u32 table = module_malloc(sizeof(kTable));
  memcpy(Bytes(table), kTable, sizeof(kTable));
  return table;
}
