// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. What can go wrong in normal life is returned, not thrown.
#pragma once

#include <utility>
#include <variant>

#include "common/error.h"

namespace dormouse {

// Like std::expected (C++23), as far as we need it. value() on an error and error() on a value are bugs.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // An error; only there because Asio wants results of coroutines to be default-constructible.
  Result() : state_(std::in_place_index<1>) {}
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit by design

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace dormouse

#define DORMOUSE_CONCAT_INNER(a, b) a##b
#define DORMOUSE_CONCAT(a, b) DORMOUSE_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, if it has one.
#define DORMOUSE_TRY(expression)                                \
  do {                                                          \
    auto dormouse_try_result = (expression);                    \
    if (!dormouse_try_result.ok()) return std::move(dormouse_try_result).error(); \
  } while (false)

// `DORMOUSE_ASSIGN(auto x, F());` declares x with the value of F(), or returns its error.
#define DORMOUSE_ASSIGN(target, expression) \
  DORMOUSE_ASSIGN_INNER(DORMOUSE_CONCAT(dormouse_result_, __LINE__), target, expression)
#define DORMOUSE_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                             \
  if (!result.ok()) return std::move(result).error();     \
  target = std::move(result).value()

// Inside a coroutine.
#define DORMOUSE_CO_TRY(expression)                                  \
  do {                                                               \
    auto dormouse_try_result = (expression);                         \
    if (!dormouse_try_result.ok()) co_return std::move(dormouse_try_result).error(); \
  } while (false)
#define DORMOUSE_CO_ASSIGN(target, expression) \
  DORMOUSE_CO_ASSIGN_INNER(DORMOUSE_CONCAT(dormouse_result_, __LINE__), target, expression)
#define DORMOUSE_CO_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                                \
  if (!result.ok()) co_return std::move(result).error();     \
  target = std::move(result).value()
