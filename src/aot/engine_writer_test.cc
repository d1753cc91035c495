// SPDX-License-Identifier: Apache-2.0
#include "aot/engine_writer.h"

#include <gtest/gtest.h>

#include "aot/c_text.h"
#include "aot/literal.h"
#include "aot/memory_image.h"
#include "aot/module_reader.h"

namespace dormouse::aot {
namespace {

Result<std::vector<OutputFile>> Write(const std::string& text, const Options& options = {}) {
  DORMOUSE_ASSIGN(const auto module, ReadModule("test.wat", text));
  return WriteEngine(*module, options);
}

std::string MessageOf(const std::string& text) {
  const auto files = Write(text);
  return files.ok() ? "" : files.error().message;
}

std::string ContentOf(const std::vector<OutputFile>& files, const std::string& name) {
  for (const OutputFile& file : files) {
    if (file.name == name) return file.content;
  }
  return "no such file";
}

void ExpectRefused(const std::string& text, const std::string& feature) {
  const std::string message = MessageOf(text);
  EXPECT_NE(message.find(feature), std::string::npos) << message;
  EXPECT_NE(message.find("not supported"), std::string::npos) << message;
}

TEST(EngineWriter, NamesTheFeatureThatIsNotSupported) {
  ExpectRefused("(module (func (param v128)))", "SIMD");
  ExpectRefused("(module (func (local v128)))", "SIMD");
  ExpectRefused("(module (memory 1) (func (drop (v128.load (i32.const 0)))))", "SIMD");
  ExpectRefused("(module (func (drop (i32x4.splat (i32.const 0)))))", "SIMD");
  ExpectRefused("(module (import \"a\" \"b\" (tag)))", "an imported tag (a.b)");
  ExpectRefused("(module (tag (param v128)))", "SIMD");
  ExpectRefused("(module (memory 1 1 shared))", "threads");
  ExpectRefused("(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))", "threads");
  ExpectRefused("(module (memory i64 1))", "memory64");
  ExpectRefused("(module (memory 1) (memory 1))", "multi-memory");
  ExpectRefused("(module (import \"a\" \"b\" (memory 1)))", "imported memory");
  ExpectRefused("(module (import \"a\" \"b\" (global i32)))", "imported global");
  ExpectRefused("(module (func $f return_call $f))", "tail calls");
  ExpectRefused("(module (func $f) (start $f))", "start function");
  ExpectRefused("(module (table 1 funcref) (func (table.set 0 (i32.const 0) (ref.null func))))",
                "references as values");
  ExpectRefused("(module (table 1 funcref) (func (drop (table.size 0))))", "tables at run time");
}

TEST(EngineWriter, NamesTheFunctionThatCannotBeTranslated) {
  const std::string message = MessageOf("(module (func) (func $bad (drop (ref.null func))))");
  EXPECT_NE(message.find("function 1 ($bad)"), std::string::npos) << message;
}

TEST(EngineWriter, RefusesWhatIsNoModule) {
  EXPECT_FALSE(ReadModule("test.wasm", "nonsense").ok());
  EXPECT_FALSE(ReadModule("test.wasm", std::string("\0asm\1\0\0\0\1\0\0", 11)).ok());
  EXPECT_FALSE(ReadModule("test.wat", "(module (func (result i32)))").ok());
}

TEST(EngineWriter, NamesSurviveAndStayApart) {
  const auto files = Write(R"((module (func $a.b) (func $a:b) (func) (func $a_b) (func $f2)
                               (func $a_b__2)))",
                           {.files = 1});
  ASSERT_TRUE(files.ok()) << files.error().message;
  const std::string code = ContentOf(*files, "engine_000.c");
  for (const char* name :
       {"void w_a_b(void) {", "void w_a_b__2(void) {", "void w_f2(void) {", "void w_a_b__3(void) {",
        "void w_f2__2(void) {", "void w_a_b__2__2(void) {"}) {
    EXPECT_NE(code.find(name), std::string::npos) << name << "\n" << code;
  }
}

TEST(EngineWriter, SpreadsFunctionsOverFilesEvenly) {
  std::string text = "(module ";
  for (int i = 0; i < 100; ++i) text += "(func (result i32) (i32.const 1))";
  const auto files = Write(text + ")", {.files = 4});
  ASSERT_TRUE(files.ok());
  std::size_t functions = 0;
  for (int i = 0; i < 4; ++i) {
    const std::string content = ContentOf(*files, Text("engine_00", i, ".c"));
    std::size_t here = 0;
    for (std::size_t at = 0; (at = content.find(") {\n", at)) != std::string::npos; ++at) ++here;
    EXPECT_NEAR(static_cast<double>(here), 25, 3);
    functions += here;
  }
  EXPECT_EQ(functions, 100u);
}

TEST(EngineWriter, IsDeterministic) {
  const std::string text = "(module (memory 1) (func (export \"f\") (result i32) (memory.size)))";
  const auto first = Write(text);
  const auto second = Write(text);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_EQ(first->size(), second->size());
  for (std::size_t i = 0; i < first->size(); ++i) {
    EXPECT_EQ((*first)[i].content, (*second)[i].content);
  }
}

TEST(EngineWriter, DeepAndLongExpressionsAreCutUp) {
  std::string text = "(module (func (export \"f\") (param i32) (result i32) (local.get 0)";
  for (int i = 0; i < 5000; ++i) text += "(local.get 0) (i32.add) (i32.eqz)";
  const auto files = Write(text + "))", {.files = 1});
  ASSERT_TRUE(files.ok()) << files.error().message;
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char c : ContentOf(*files, "engine_000.c")) {
    if (c == '(') deepest = std::max(deepest, ++depth);
    if (c == ')') --depth;
  }
  EXPECT_LT(deepest, 100u);
}

std::string ImageOf(const std::string& text) {
  const auto module = ReadModule("test.wat", text);
  EXPECT_TRUE(module.ok());
  const auto image = BuildMemoryImage(**module);
  return image.ok() ? *image : image.error().message;
}

TEST(MemoryImage, EndsAfterTheLastPageWithContent) {
  EXPECT_EQ(ImageOf("(module (memory 5))"), "");
  EXPECT_EQ(ImageOf("(module)"), "");
  const std::string image = ImageOf(
      R"((module (memory 5) (data (i32.const 65535) "ab") (data (i32.const 200000) "\00\00")))");
  ASSERT_EQ(image.size(), 2u * 65536);
  EXPECT_EQ(image.substr(65534, 4), std::string("\0ab\0", 4));
}

TEST(MemoryImage, SegmentsOutsideAreRefused) {
  EXPECT_NE(ImageOf(R"((module (memory 1) (data (i32.const 65535) "ab")))").find("ends at byte"),
            std::string::npos);
  EXPECT_NE(ImageOf(R"((module (memory 1) (data (i32.const -1) "ab")))").find("ends at byte"),
            std::string::npos);
}

TEST(MemoryImage, OffsetsMayBeComputed) {
  const std::string image =
      ImageOf(R"((module (memory 1) (data (i32.add (i32.const 40) (i32.const 2)) "x")))");
  EXPECT_EQ(image.find('x'), 42u);
}

TEST(Literal, HasExactlyTheBits) {
  EXPECT_EQ(Literal(wabt::Type::I32, 0xffffffff), "4294967295u");
  EXPECT_EQ(Literal(wabt::Type::I64, ~0ull), "18446744073709551615ull");
  EXPECT_EQ(Literal(wabt::Type::F32, 0x3f800000), "0x1p+0f");
  EXPECT_EQ(Literal(wabt::Type::F64, 0x8000000000000000), "(-0x0p+0)");
  EXPECT_EQ(Literal(wabt::Type::F32, 0x7fa00000), "dm_float32(2141192192u)");
  EXPECT_EQ(Literal(wabt::Type::F64, 1), "0x0.0000000000001p-1022");
}

TEST(CStringLiteral, EscapesWhatCWouldMisread) {
  EXPECT_EQ(CStringLiteral("a\"b\\?\n\xff"), R"("a\"b\\\?\012\377")");
}

constexpr const char* kAdapted = R"((module
    (import "env" "ask" (func $ask (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
    (type $callback (func))
    (table 2 funcref)
    (elem (i32.const 1) $f)
    (func $f (call_indirect (type $callback) (i32.const 1)))
    (func $start (export "their.start") (param i32) (result i32) (local.get 0))
    (func (export "dormouse_boot") (result i32) (i32.const 1))))";

TEST(EngineWriter, AnAdapterHasTheExportsAndTheImportsThatTheHostLacks) {
  const auto files = Write(kAdapted, {.files = 1, .adapter = "void dormouse_hook(void) {}"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(ContentOf(*files, "engine_adapter.c"), "void dormouse_hook(void) {}");
  const std::string header = ContentOf(*files, "engine_adapter.h");
  for (const char* text :
       {"#define module_their_start w_start\n", "#define import_env_ask w_ask\n",
        "u32 host_wasi_snapshot_preview1_fd_close(u32 l0);", "void host_dormouse_emit(u32 kind, u32 address, u32 length);",
        "#define DORMOUSE_HOOK 0u", "u32 dormouse_run(u32 address, u32 length);"}) {
    EXPECT_NE(header.find(text), std::string::npos) << text << "\n" << header;
  }
  EXPECT_EQ(header.find("host_env_ask"), std::string::npos) << header;
  const std::string table = ContentOf(*files, "engine_table.c");
  for (const char* text :
       {"{\"dormouse_boot\", \">i\", (void*)dormouse_boot}", "{(void*)dormouse_hook, ", "{\"dormouse\", \"emit\", \"iii>\", ",
        "__attribute__((weak)) DM_HIDDEN u32 w_close(u32 l0)"}) {
    EXPECT_NE(table.find(text), std::string::npos) << text << "\n" << table;
  }
  EXPECT_EQ(table.find("{\"env\""), std::string::npos) << table;
}

TEST(EngineWriter, WithoutAnAdapterAllImportsAreTheHosts) {
  const auto files = Write(kAdapted, {.files = 1});
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(ContentOf(*files, "engine_adapter.h"), "no such file");
  const std::string table = ContentOf(*files, "engine_table.c");
  EXPECT_NE(table.find("{\"env\", \"ask\""), std::string::npos) << table;
  EXPECT_EQ(table.find("weak"), std::string::npos) << table;
}

TEST(EngineWriter, AnAdapterWithoutAHookHasNone) {
  const auto files = Write(kAdapted, {.files = 1, .adapter = "// C of the adapter"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(ContentOf(*files, "engine_table.c").find("dormouse_hook"), std::string::npos);
}

TEST(EngineWriter, TheHookNeedsTheNullPointersEntry) {
  const auto files = Write("(module (type $t (func)) (table 1 funcref) (elem (i32.const 0) $f) (func $f))",
                           {.files = 1, .adapter = "void dormouse_hook(void) {}"});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("not supported"), std::string::npos) << files.error().message;
}

constexpr const char* kNamed = R"((module
    (memory 1)
    (func $set (param i32) (result i32) (i32.const 0))
    (func $other (param f64) (result f64) (local.get 0))
    (func $mark (param i32) (drop (call $set (i32.const 1))))
    (func $protect (param i32) (result i32) (local i64)
      (if (result i32) (local.get 0)
        (then (call $set (local.get 0)))
        (else (i32.const 7))))))";

std::string AllCode(const std::vector<OutputFile>& files) {
  std::string code;
  for (const OutputFile& file : files) {
    if (file.name.ends_with(".c") && file.name != "engine_adapter.c") code += file.content;
  }
  return code;
}

TEST(EngineWriter, AnAdapterReachesFunctionsByName) {
  const auto files = Write(
      kNamed,
      {.files = 1, .adapter = "DORMOUSE_USES(set)\nDORMOUSE_REPLACES(other)\nDORMOUSE_WRAPS(mark)\n"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  const std::string header = ContentOf(*files, "engine_adapter.h");
  for (const char* text : {"#define module_set w_set\n", "#define module_other w_other\n",
                           "#define module_mark w_mark\n", "#define original_mark original_w_mark\n"}) {
    EXPECT_NE(header.find(text), std::string::npos) << text << "\n" << header;
  }
  const std::string code = AllCode(*files);
  EXPECT_NE(code.find("u32 w_set(u32 l0) {"), std::string::npos) << code;
  EXPECT_EQ(code.find("w_other(f64 l0) {"), std::string::npos) << code;
  EXPECT_NE(code.find("\nvoid original_w_mark(u32 l0) {"), std::string::npos) << code;
  EXPECT_EQ(code.find("void w_mark(u32 l0) {"), std::string::npos) << code;
}

TEST(EngineWriter, AnAdapterReachesFunctionsWithoutNamesByNumber) {
  const auto files = Write(R"((module (memory 1) (func (param i32)) (func (call 0 (i32.const 1)))))",
                           {.files = 1, .adapter = "DORMOUSE_USES(f0)\nDORMOUSE_WRAPS(f1)\n"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  const std::string header = ContentOf(*files, "engine_adapter.h");
  for (const char* text : {"#define module_f0 w_f0\n", "#define original_f1 original_w_f1\n"}) {
    EXPECT_NE(header.find(text), std::string::npos) << text << "\n" << header;
  }
}

TEST(EngineWriter, AnAdapterTakesCallsWithAConstant) {
  const auto files = Write(kNamed, {.files = 1, .adapter = "DORMOUSE_CONSTANT(set, 1)\n"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  const std::string code = AllCode(*files);
  EXPECT_NE(code.find("= set_1();"), std::string::npos) << code;
  EXPECT_NE(code.find("= w_set(l0);"), std::string::npos) << code;
}

TEST(EngineWriter, AnUnknownNameOfTheAdapterIsRefused) {
  const auto files = Write(kNamed, {.files = 1, .adapter = "DORMOUSE_USES(nothing)\n"});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("nothing"), std::string::npos) << files.error().message;
}

TEST(EngineWriter, FunctionsThatCallSetjmpKeepTheirVariables) {
  const auto files = Write(kNamed, {.files = 1, .adapter = "DORMOUSE_SETJMP(set)\n"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  const std::string code = AllCode(*files);
  const std::string protect = code.substr(code.find("\nu32 w_protect(u32 l0) {"));
  for (const char* text :
       {"u64 j0_l1 = 0;", "u32 j_at = dormouse_jump_enter(20u);", "j0_l1 = DM_AT(u64, j_at, 12u);",
        "j0_kept = dormouse_jump_begin(j0_buffer);\nj0_l0 = l0;\nj0_l1 = l1;\n", "\nJ0:;\n",
        "leave:;\n", "= dormouse_jump_arrive(j0_buffer, j0_kept);\nl0 = j0_l0;\nl1 = j0_l1;\ngoto J0;",
        "j_at = dormouse_jump_leave(20u);", "return j_result;"}) {
    EXPECT_NE(protect.find(text), std::string::npos) << text << "\n" << protect;
  }
  EXPECT_EQ(protect.find("w_set("), std::string::npos) << protect;
}

TEST(EngineWriter, WhatTheAdapterChangesMovesNoFunctionToAnotherFile) {
  const auto names = [](const auto& files) {
    std::vector<bool> has;
    for (const OutputFile& file : *files) has.push_back(file.content.find("w_protect(u32 l0) {") != std::string::npos);
    return has;
  };
  const auto plain = Write(kNamed, {.files = 3, .adapter = "//\n"});
  const auto changed = Write(kNamed, {.files = 3, .adapter = "DORMOUSE_SETJMP(set)\nDORMOUSE_REPLACES(other)\n"});
  ASSERT_TRUE(plain.ok() && changed.ok());
  EXPECT_EQ(names(plain), names(changed));
}

std::string FunctionText(const std::string& code, const std::string& head) {
  const std::size_t begin = code.find("\n" + head);
  return begin == std::string::npos ? "" : code.substr(begin, code.find("\n}\n", begin) - begin);
}

TEST(EngineWriter, OnlyFunctionsWithATryPayForIt) {
  const std::string plain =
      "(func $plain (param i32) (result i32) (local i32)"
      "  (local.set 1 (i32.const 2)) (drop (br_if 0 (i32.const 3) (local.get 0))) (local.get 1))";
  const auto with = Write("(module " + plain +
                              R"((tag $e (param i32))
         (func $catches (param i32) (local i32 i64)
           (local.set 1 (i32.const 5))
           (local.set 2 (i64.const 6))
           (try (do (throw $e (local.get 0))) (catch $e (drop) (drop (local.get 1)))))))",
                          {.files = 1});
  const auto without = Write("(module " + plain + ")", {.files = 1});
  ASSERT_TRUE(with.ok()) << with.error().message;
  ASSERT_TRUE(without.ok()) << without.error().message;
  const std::string code = ContentOf(*with, "engine_000.c");
  EXPECT_EQ(FunctionText(code, "u32 w_plain("),
            FunctionText(ContentOf(*without, "engine_000.c"), "u32 w_plain("));
  // The local that the catch reads is kept, the others are not.
  const std::string catches = FunctionText(code, "void w_catches(");
  EXPECT_NE(catches.find("kept.l1 = l1;"), std::string::npos) << catches;
  EXPECT_EQ(catches.find("kept.l0"), std::string::npos) << catches;
  EXPECT_EQ(catches.find("kept.l2"), std::string::npos) << catches;
}

TEST(EngineWriter, ModulesWithoutExceptionsHaveNothingOfThem) {
  const auto files = Write("(module (memory 1) (func (export \"f\")))");
  ASSERT_TRUE(files.ok());
  for (const OutputFile& file : *files) {
    EXPECT_EQ(file.content.find("dormouse_handler"), std::string::npos) << file.name;
    EXPECT_NE(file.name, "exception_abi.h");
  }
}

TEST(EngineWriter, AnAdapterForAModuleWithExceptionsIsRefused) {
  const auto files = Write("(module (tag))", {.files = 1, .adapter = "//\n"});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("exceptions is not supported"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::aot
