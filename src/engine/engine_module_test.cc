// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_module.h"

#include <gtest/gtest.h>

#include "engine/host_call.h"
#include "engine/test_guest.h"

namespace dormouse::engine {
namespace {

struct Host {
  std::uint32_t asked = 0;
};
std::uint32_t Answer(Host& host, std::uint32_t question) { return host.asked = question + 41; }
std::uint64_t WideAnswer(Host&, std::uint32_t) { return 0; }

class EngineModuleTest : public testing::Test {
 protected:
  EngineModuleTest() { test_guest::ask_slot = nullptr; }
  DormouseEngine engine_ = test_guest::MakeEngine();
};

TEST_F(EngineModuleTest, AnotherAbiVersionIsRefused) {
  engine_.abi_version = 99;
  const auto module = EngineModule::FromTable(engine_);
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.error().message.find("ABI version 99"), std::string::npos);
}

TEST_F(EngineModuleTest, MissingPointersAndOddGlobalsAreRefused) {
  engine_.trap = nullptr;
  EXPECT_FALSE(EngineModule::FromTable(engine_).ok());
  engine_ = test_guest::MakeEngine();
  const DormouseGlobal odd[] = {{"odd", &test_guest::wide, 3}};
  engine_.globals = odd;
  engine_.global_count = 1;
  EXPECT_FALSE(EngineModule::FromTable(engine_).ok());
}

TEST_F(EngineModuleTest, FilesThatAreNoEnginesAreRefused) {
  EXPECT_EQ(EngineModule::Load("/nonexistent/engine.so").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(EngineModule::Load("libm.so.6").error().code, ErrorCode::kCorrupt);
}

TEST_F(EngineModuleTest, ImportsAreBoundWithTheHostPointer) {
  auto module = EngineModule::FromTable(engine_);
  ASSERT_TRUE(module.ok());
  Host host;
  const HostFunction functions[] = {MakeHostFunction<&Answer>("test", "ask"),
                                    MakeHostFunction<&WideAnswer>("test", "unused")};
  ASSERT_TRUE(module->BindImports(functions, &host).ok());
  EXPECT_EQ(test_guest::host, &host);
  EXPECT_EQ(test_guest::Ask(1), 42u);
  EXPECT_EQ(host.asked, 42u);
}

TEST_F(EngineModuleTest, MissingAndMistypedImportsAreNamedAndNothingIsBound) {
  auto module = EngineModule::FromTable(engine_);
  ASSERT_TRUE(module.ok());
  Host host;
  const auto missing = module->BindImports({}, &host);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("test.ask i>i is not offered"), std::string::npos);
  const HostFunction wrong[] = {MakeHostFunction<&WideAnswer>("test", "ask")};
  const auto mistyped = module->BindImports(wrong, &host);
  ASSERT_FALSE(mistyped.ok());
  EXPECT_NE(mistyped.error().message.find("test.ask is i>I, the guest wants i>i"),
            std::string::npos);
  EXPECT_EQ(test_guest::ask_slot, nullptr);
}

TEST_F(EngineModuleTest, ExportsAreFoundByNameAndSignature) {
  auto module = EngineModule::FromTable(engine_);
  ASSERT_TRUE(module.ok());
  const auto add = module->FindExport<std::uint32_t(std::uint32_t, std::int32_t)>("add");
  ASSERT_TRUE(add.ok());
  EXPECT_EQ(reinterpret_cast<void*>(add.value()), reinterpret_cast<void*>(&test_guest::Add));
  EXPECT_EQ(module->FindExport<void()>("add").error().message, "export add is ii>i, not >");
  EXPECT_EQ(module->FindExport<void()>("none").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(module->HasExport("load"));
  EXPECT_FALSE(module->HasExport("lo"));
}

TEST_F(EngineModuleTest, GlobalsAreSavedAndRestored) {
  auto module = EngineModule::FromTable(engine_);
  ASSERT_TRUE(module.ok());
  const std::vector<std::uint64_t> saved = module->SaveGlobals();
  EXPECT_EQ(saved, (std::vector<std::uint64_t>{7, 8, 0x3fe0000000000000}));
  test_guest::counter = 0;
  test_guest::wide = ~0ull;
  test_guest::ratio = 9;
  ASSERT_TRUE(module->RestoreGlobals(saved).ok());
  EXPECT_EQ(test_guest::counter, 7u);
  EXPECT_EQ(test_guest::wide, 8u);
  EXPECT_EQ(test_guest::ratio, 0.5);
}

TEST_F(EngineModuleTest, GlobalsThatDoNotFitAreRefusedAndNothingChanges) {
  auto module = EngineModule::FromTable(engine_);
  ASSERT_TRUE(module.ok());
  const std::uint64_t too_few[] = {1, 2};
  EXPECT_FALSE(module->RestoreGlobals(too_few).ok());
  const std::uint64_t too_wide[] = {1ull << 32, 2, 3};
  EXPECT_FALSE(module->RestoreGlobals(too_wide).ok());
  EXPECT_EQ(module->SaveGlobals()[0], 7u);
  EXPECT_EQ(module->SaveGlobals()[1], 8u);
}

TEST(SignatureOf, HasTheAbisLetters) {
  EXPECT_EQ((SignatureOf<void()>::kView), ">");
  EXPECT_EQ((SignatureOf<double(std::int32_t, std::uint64_t, float)>::kView), "iIf>F");
}

}  // namespace
}  // namespace dormouse::engine
