// SPDX-License-Identifier: Apache-2.0
// Runs the calls written in the comments of testdata/*.wat against the engines that the build made
// of these files, through the whole chain: dormouse-aot, clang, EngineModule, GuestThread.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "engine/engine_module.h"
#include "engine/guest_thread.h"
#include "engine/host_call.h"

namespace dormouse::aot {
namespace {

using engine::EngineModule;
using engine::GuestThread;
using engine::LinearMemory;
using engine::Trap;

struct TypedValue {
  std::string type;
  std::string text;
  std::uint64_t bits = 0;  // 32-bit types zero-extended
};

struct Case {
  std::string line;
  std::string function;
  std::vector<TypedValue> arguments;
  std::optional<TypedValue> result;
  std::string trap;
};

TypedValue ParseValue(const std::string& word) {
  TypedValue value;
  value.type = word.substr(0, word.find(':'));
  value.text = word.substr(word.find(':') + 1);
  value.bits = value.text[0] == '-' ? static_cast<std::uint64_t>(std::stoll(value.text, nullptr, 0))
               : value.text == "nan" ? 0
                                     : std::stoull(value.text, nullptr, 0);
  if (value.type == "i32" || value.type == "f32") value.bits &= 0xffffffff;
  return value;
}

// ";;= name(i32:1 i64:2) -> i32:3" or ";;= name() !! what trap".
std::vector<Case> ReadCases(const std::string& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t at = line.find(";;= ");
    if (at == std::string::npos) continue;
    Case item;
    item.line = line.substr(at + 4);
    const std::size_t open = item.line.find('(');
    const std::size_t close = item.line.find(')');
    item.function = item.line.substr(0, open);
    std::istringstream words(item.line.substr(open + 1, close - open - 1));
    for (std::string word; words >> word;) item.arguments.push_back(ParseValue(word));
    const std::string outcome = item.line.substr(close + 2);
    if (outcome.starts_with("-> ")) item.result = ParseValue(outcome.substr(3));
    if (outcome.starts_with("!! ")) item.trap = outcome.substr(3);
    cases.push_back(item);
  }
  return cases;
}

struct Host {
  LinearMemory* memory;
  std::uint32_t max_pages;
};
std::uint32_t Twice(Host&, std::uint32_t value) { return 2 * value; }
double Mix(Host&, std::uint32_t a, std::uint64_t b, float c, double d) {
  return a + static_cast<double>(b) + c + d;
}
std::uint32_t Grow(Host& host, std::uint32_t delta) {
  return host.memory->Grow(delta, host.max_pages).value_or(UINT32_MAX);
}

class WatCases : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string directory = std::string(DORMOUSE_TEST_ENGINES) + "/" + GetParam();
    auto module = EngineModule::Load(directory + "/engine.so");
    ASSERT_TRUE(module.ok()) << module.error().message;
    module_.emplace(std::move(module).value());
    auto memory = LinearMemory::Reserve(module_->abi().memory_base, module_->abi().memory_pages);
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    memory_.emplace(std::move(memory).value());
    const FileDescriptor image(open((directory + "/memory.img").c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status{};
    ASSERT_EQ(fstat(image.get(), &status), 0);
    ASSERT_TRUE(memory_
                    ->MapImage(image.get(), static_cast<std::uint64_t>(status.st_size),
                               module_->abi().initial_pages)
                    .ok());
    host_ = {&*memory_, module_->abi().max_pages};
    const engine::HostFunction functions[] = {
        engine::MakeHostFunction<&Twice>("test", "twice"),
        engine::MakeHostFunction<&Mix>("test", "mix"),
    };
    ASSERT_TRUE(module_->BindImports(functions, &host_).ok());
    module_->BindMemoryGrow(&engine::HostCall<&Grow>::Entry);
    auto guest = GuestThread::Create(*module_, *memory_, {.stack_bytes = 8 << 20});
    ASSERT_TRUE(guest.ok()) << guest.error().message;
    guest_ = std::move(guest).value();
  }

  // The calling convention passes integers and floats in registers of their own, so that one call
  // with all of them filled suits every signature of up to 6 and 8.
  Trap Call(const Case& item, const DormouseExport& function, std::uint64_t& bits) {
    std::uint64_t integers[6] = {};
    double floats[8] = {};
    int integer_count = 0;
    int float_count = 0;
    for (const TypedValue& value : item.arguments) {
      if (value.type[0] == 'i') {
        integers[integer_count++] = value.bits;
      } else {
        std::memcpy(&floats[float_count++], &value.bits, sizeof(double));
      }
    }
    const bool returns_float = item.result.has_value() && item.result->type[0] == 'f';
    return guest_->Run([&] {
      using u64 = std::uint64_t;
      if (returns_float) {
        const auto f = reinterpret_cast<double (*)(u64, u64, u64, u64, double, double, double)>(
            function.function);
        const double result =
            f(integers[0], integers[1], integers[2], integers[3], floats[0], floats[1], floats[2]);
        std::memcpy(&bits, &result, sizeof bits);
      } else {
        const auto f = reinterpret_cast<u64 (*)(u64, u64, u64, u64, double, double, double)>(
            function.function);
        bits =
            f(integers[0], integers[1], integers[2], integers[3], floats[0], floats[1], floats[2]);
      }
    });
  }

  static std::string SignatureOf(const Case& item) {
    std::string text;
    for (const TypedValue& value : item.arguments) {
      const bool narrow = value.type.ends_with("32");
      text += value.type[0] == 'i' ? (narrow ? 'i' : 'I') : (narrow ? 'f' : 'F');
    }
    return text + ">";
  }

  void Check(const Case& item) {
    SCOPED_TRACE(item.line);
    const DormouseExport* function = nullptr;
    for (const DormouseExport& candidate : module_->exports()) {
      if (item.function == candidate.name) function = &candidate;
    }
    ASSERT_NE(function, nullptr);
    ASSERT_TRUE(std::string(function->signature).starts_with(SignatureOf(item)))
        << function->signature;
    std::uint64_t bits = 0;
    const Trap trap = Call(item, *function, bits);
    if (!item.trap.empty()) {
      EXPECT_STREQ(engine::TrapName(trap.kind), item.trap.c_str());
      return;
    }
    ASSERT_FALSE(trap) << engine::TrapName(trap.kind);
    const TypedValue& expected = *item.result;
    if (expected.type.ends_with("32")) bits &= 0xffffffff;
    if (expected.text == "nan") {
      const std::uint64_t quiet = expected.type == "f32" ? 0x7fc00000 : 0x7ff8000000000000;
      EXPECT_EQ(bits & quiet, quiet) << std::hex << bits;
    } else {
      EXPECT_EQ(bits, expected.bits) << std::hex << bits;
    }
  }

  std::optional<EngineModule> module_;
  std::optional<LinearMemory> memory_;
  Host host_{};
  std::unique_ptr<GuestThread> guest_;
};

TEST_P(WatCases, EndAsTheirCommentsSay) {
  const auto cases = ReadCases(std::string(DORMOUSE_TEST_SOURCES) + "/" + GetParam() + ".wat");
  ASSERT_GT(cases.size(), 5u);
  for (const Case& item : cases) Check(item);
}

INSTANTIATE_TEST_SUITE_P(All, WatCases,
                         testing::Values("numeric", "control", "memory", "calls", "dispatch",
                                         "exceptions"),
                         [](const auto& info) { return std::string(info.param); });

// NAME-metered has a function that goes round a loop as often as its argument says.
struct MeteredLoop {
  const char* engine;
  const char* function;
};
constexpr MeteredLoop kMeteredLoops[] = {{"control-metered", "sum_to"},
                                         {"exceptions-metered", "rounds"}};

class MeteredLoops : public WatCases {
 protected:
  const char* Function() const {
    for (const MeteredLoop& loop : kMeteredLoops) {
      if (std::strcmp(loop.engine, GetParam()) == 0) return loop.function;
    }
    return "";
  }
};

TEST_P(MeteredLoops, CountTheSameFuelEachTimeAndStopWhenThereIsNone) {
  ASSERT_TRUE(module_->metered());
  const auto sum_to = module_->FindExport<std::uint32_t(std::uint32_t)>(Function());
  ASSERT_TRUE(sum_to.ok());
  std::int64_t& fuel = *module_->abi().fuel;
  std::uint32_t sum = 0;
  const auto used = [&](std::uint32_t n) {
    fuel = 1'000'000;
    EXPECT_FALSE(guest_->Call(*sum_to, &sum, n));
    return 1'000'000 - fuel;
  };
  EXPECT_EQ(used(100), used(100));
  EXPECT_EQ(used(200) - used(100), used(300) - used(200));
  EXPECT_GE(used(200) - used(100), 100);
  fuel = used(100) - 1;
  EXPECT_EQ(guest_->Call(*sum_to, &sum, 100u).kind, DORMOUSE_TRAP_OUT_OF_FUEL);
}

INSTANTIATE_TEST_SUITE_P(All, MeteredLoops,
                         testing::Values(kMeteredLoops[0].engine, kMeteredLoops[1].engine));

using Globals = WatCases;

TEST_P(Globals, MutableOnesAreListedUnderTheirNames) {
  ASSERT_EQ(module_->globals().size(), 2u);
  EXPECT_STREQ(module_->globals()[0].name, "mutable");
  EXPECT_STREQ(module_->globals()[1].name, "ratio");
  EXPECT_EQ(module_->SaveGlobals(),
            (std::vector<std::uint64_t>{static_cast<std::uint64_t>(-5), 0x3fd0000000000000}));
}

INSTANTIATE_TEST_SUITE_P(All, Globals, testing::Values("calls"));

}  // namespace
}  // namespace dormouse::aot
