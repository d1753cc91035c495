// SPDX-License-Identifier: Apache-2.0
// EngineModule: an engine's shared object, loaded. Finds exports, binds imports, saves and restores
// globals.
//
// The object's code and statics are the instance: there is one per process and per file, and
// loading the same file twice yields the same statics. Nothing here runs guest code, but dlopen
// runs the object's ELF constructors (dormouse-aot emits none), so only engines built on this
// machine or verified by their build id may be loaded.
//
// Threads: none of the calls may overlap with another one or with a running guest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "engine/engine_abi.h"
#include "engine/signature.h"

namespace dormouse::engine {

// A function that the host offers to guests. Made by MakeHostFunction (host_call.h); the views must
// be literals.
struct HostFunction {
  std::string_view module;
  std::string_view name;
  std::string_view signature;  // as in engine_abi.h, without the host pointer
  void* function = nullptr;    // R f(void* host, P…)
};

class EngineModule {
 public:
  // Loads `path` (RTLD_NOW, RTLD_LOCAL) and checks ABI version and table. The error names the file.
  static Result<EngineModule> Load(const std::string& path);
  // For engines linked into the program. Borrows `engine`.
  static Result<EngineModule> FromTable(const DormouseEngine& engine);

  EngineModule(EngineModule&& other) noexcept;
  EngineModule& operator=(EngineModule&& other) noexcept;
  EngineModule(const EngineModule&) = delete;
  EngineModule& operator=(const EngineModule&) = delete;
  // Unloads the object; no pointer obtained from it may be used afterwards.
  ~EngineModule();

  const DormouseEngine& abi() const { return *engine_; }
  std::span<const DormouseImport> imports() const;
  std::span<const DormouseExport> exports() const;
  std::span<const DormouseGlobal> globals() const;
  // Whether the guest counts fuel down in *abi().fuel.
  bool metered() const { return engine_->fuel != nullptr; }

  // Stores a function in every import's slot and `host` as the pointer they all get. Fails without
  // storing anything if an import has no function of that name or one of another signature; the
  // message lists all of them. Functions that the guest does not import are ignored.
  Result<void> BindImports(std::span<const HostFunction> functions, void* host);
  // `function` is a HostCall<…>::Entry of `uint32_t f(Host&, uint32_t delta_pages)`; it returns the
  // old size in pages or UINT32_MAX. Until it is bound, memory.grow fails in the guest.
  void BindMemoryGrow(std::uint32_t (*function)(void* host, std::uint32_t delta_pages));

  // The export as a C function pointer:
  // as in
  // `FindExport<std::uint32_t(std::uint32_t)>("dormouse_alloc")`.
  template <typename Function>
  Result<Function*> FindExport(std::string_view name) const {
    auto found = FindExportOfSignature(name, SignatureOf<Function>::kView);
    if (!found.ok()) return std::move(found).error();
    return reinterpret_cast<Function*>(found.value());
  }
  bool HasExport(std::string_view name) const;

  // Mutable globals in the order of globals(), 4-byte ones zero-extended, floats as their bits.
  std::vector<std::uint64_t> SaveGlobals() const;
  // Fails, and changes nothing, unless there are exactly as many values as globals and each fits.
  Result<void> RestoreGlobals(std::span<const std::uint64_t> values);

 private:
  EngineModule(const DormouseEngine* engine, void* handle) : engine_(engine), handle_(handle) {}
  Result<void*> FindExportOfSignature(std::string_view name, std::string_view signature) const;

  const DormouseEngine* engine_ = nullptr;
  void* handle_ = nullptr;  // of dlopen; null for linked-in engines
};

}  // namespace dormouse::engine
