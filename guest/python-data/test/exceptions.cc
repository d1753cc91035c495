// SPDX-License-Identifier: Apache-2.0
// What exceptions and longjmp must do in the guest. `check()` is 0, or the line of the first thing that is wrong.
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#define CHECK(condition) \
  if (!(condition)) return __LINE__

namespace {

volatile int depth_limit = 20;
int alive = 0;
std::string trace;

struct Guard {
  explicit Guard(char name) : name(name) { ++alive; }
  Guard(const Guard& other) : name(other.name) { ++alive; }
  ~Guard() {
    --alive;
    trace += name;
  }
  char name;
};

struct Base {
  virtual ~Base() = default;
  virtual int Value() const { return 1; }
};
struct Left : virtual Base {
  int padding = 5;
};
struct Right : virtual Base {};
struct Derived : Left, Right {
  int Value() const override { return 2; }
};

__attribute__((noinline)) int Throw(int what) {
  switch (what) {
    case 1:
      throw 42;
    case 2:
      throw Derived();
    case 3:
      throw std::runtime_error("a message");
    case 4:
      throw std::string("text of more than a few bytes, so that it is on the heap");
    case 5:
      throw static_cast<const char*>("pointer");
    case 6:
      throw 2.5;
    case 7:
      throw std::make_unique<Guard>('u');
  }
  return what;
}

__attribute__((noinline)) int Deep(int depth, int what) {
  Guard guard('d');
  if (depth == 0) return Throw(what);
  return Deep(depth - 1, what) + 1;
}

__attribute__((noinline)) std::string Caught(int what) {
  try {
    Throw(what);
  } catch (int value) {
    return "int " + std::to_string(value);
  } catch (const Base& base) {
    return "base " + std::to_string(base.Value());
  } catch (const std::exception& error) {
    return std::string("exception ") + error.what();
  } catch (const std::string& text) {
    return "string " + text.substr(0, 4);
  } catch (const char* text) {
    return std::string("pointer ") + text;
  } catch (...) {
    return "something";
  }
  return "nothing";
}

int Types() {
  CHECK(Caught(0) == "nothing");
  CHECK(Caught(1) == "int 42");
  CHECK(Caught(2) == "base 2");
  CHECK(Caught(3) == "exception a message");
  CHECK(Caught(4) == "string text");
  CHECK(Caught(5) == "pointer pointer");
  CHECK(Caught(6) == "something");
  alive = 0;
  CHECK(Caught(7) == "something" && alive == 0);
  return 0;
}

int Destructors() {
  trace.clear();
  alive = 0;
  int before = 3;
  try {
    Guard a('a');
    before = 4;
    Guard b('b');
    Deep(depth_limit, 1);
    before = 5;
  } catch (int) {
    CHECK(alive == 0);
    CHECK(trace == std::string(21, 'd') + "ba");
    CHECK(before == 4);
    return 0;
  }
  return __LINE__;
}

int Nested() {
  trace.clear();
  try {
    try {
      try {
        Throw(3);
      } catch (int) {
        return __LINE__;
      }
    } catch (const std::runtime_error&) {
      Guard guard('r');
      throw;
    }
  } catch (const std::logic_error&) {
    return __LINE__;
  } catch (const std::exception& error) {
    CHECK(trace == "r");
    CHECK(std::strcmp(error.what(), "a message") == 0);
    try {
      Throw(2);  // a second exception while the first is being handled
    } catch (const Right& right) {
      CHECK(right.Value() == 2);
    }
    CHECK(std::strcmp(error.what(), "a message") == 0);
    try {
      throw std::invalid_argument("another");
    } catch (const std::logic_error& inner) {
      CHECK(std::strcmp(inner.what(), "another") == 0);
    }
    return 0;
  }
  return __LINE__;
}

int Pointers() {
  std::exception_ptr kept;
  try {
    Throw(3);
  } catch (...) {
    kept = std::current_exception();
  }
  CHECK(kept != nullptr && std::current_exception() == nullptr);
  for (int i = 0; i < 3; ++i) {
    try {
      std::rethrow_exception(kept);
    } catch (const std::runtime_error& error) {
      CHECK(std::strcmp(error.what(), "a message") == 0);
      continue;
    }
    return __LINE__;
  }
  try {
    try {
      Throw(1);
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  } catch (const std::runtime_error& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (int value) {
      CHECK(value == 42);
      return 0;
    }
  }
  return __LINE__;
}

struct Counter {
  ~Counter() { seen = std::uncaught_exceptions(); }
  int& seen;
};

// By code of the library's own.
int Library() {
  int seen = -1;
  try {
    Counter counter{seen};
    std::vector<int>(3).at(static_cast<std::size_t>(depth_limit));
    return __LINE__;
  } catch (const std::out_of_range&) {
    CHECK(seen == 1 && std::uncaught_exceptions() == 0);
  }
  try {
    (void)std::stoi("none");
    return __LINE__;
  } catch (const std::invalid_argument&) {
  }
  try {
    (void)std::string("abc").at(static_cast<std::size_t>(depth_limit));
    return __LINE__;
  } catch (const std::out_of_range&) {
  }
  try {
    std::function<int()>()();
    return __LINE__;
  } catch (const std::bad_function_call&) {
  }
  try {
    Base base;
    (void)dynamic_cast<Left&>(base);
    return __LINE__;
  } catch (const std::bad_cast&) {
  }
  try {
    void* volatile memory = ::operator new(std::numeric_limits<std::ptrdiff_t>::max() - depth_limit);
    (void)memory;
    return __LINE__;
  } catch (const std::bad_alloc&) {
  }
  try {
    std::istringstream stream("x");
    stream.exceptions(std::ios::failbit);
    int number = 0;
    stream >> number;
    return __LINE__;
  } catch (const std::ios_base::failure&) {
  }
  return 0;
}

// A constructor that fails after some of the elements.
struct Fragile {
  Fragile() : guard('f') {
    if (++made == 4) throw 7L;
  }
  Guard guard;
  static inline int made = 0;
};

int Arrays() {
  alive = 0;
  Fragile::made = 0;
  try {
    std::unique_ptr<Fragile[]> array(new Fragile[10]);
    return __LINE__;
  } catch (long value) {
    CHECK(value == 7 && alive == 0);
  }
  return 0;
}

int Many() {
  long sum = 0;
  for (int i = 0; i < 20000; ++i) {
    try {
      if (i % 3 == 0) continue;
      if (i % 7 == 6) Throw(3);
      sum += Deep(3, i % 2);
    } catch (int value) {
      sum += value;
    } catch (const std::exception&) {
      if (i > 19990) break;
    }
  }
  CHECK(sum == 257040);
  return 0;
}

std::jmp_buf target, outer_target;

__attribute__((noinline)) void JumpFrom(int depth, int value) {
  volatile char room[100];
  room[depth] = 1;
  if (depth == 0) std::longjmp(value < 0 ? outer_target : target, value);
  JumpFrom(depth - 1, value);
  room[0] = room[1];
}

__attribute__((noinline)) int Jumps() {
  volatile int rounds = 0;
  const int result = setjmp(target);
  if (result == 0) {
    rounds = 1;
    JumpFrom(10, 5);
    return __LINE__;
  }
  CHECK(result == 5 + rounds - 1);
  if (rounds < 4) {
    rounds = rounds + 1;
    JumpFrom(rounds, 4 + rounds);
    return __LINE__;
  }
  // A zero becomes 1; past another setjmp to the one before it.
  if (setjmp(outer_target) == 0) {
    if (setjmp(target) == 0) {
      JumpFrom(3, -9);
    }
    return __LINE__;
  }
  volatile bool arrived = false;
  if (const int one = setjmp(target); one == 0) {
    JumpFrom(2, 0);
  } else {
    CHECK(one == 1);
    arrived = true;
  }
  CHECK(arrived);
  return 0;
}

// Both in one program: exceptions do not disturb what setjmp waits for.
__attribute__((noinline)) int Mixed() {
  volatile int caught = 0;
  if (setjmp(target) == 0) {
    try {
      Deep(2, 1);
    } catch (int) {
      caught = 1;
    }
    JumpFrom(2, 3);
    return __LINE__;
  }
  CHECK(caught == 1);
  return 0;
}

}  // namespace

extern "C" __attribute__((export_name("check"))) int check() {
  int (*const parts[])() = {Types, Destructors, Nested, Pointers, Library, Arrays, Many, Jumps, Mixed};
  for (auto* const part : parts) {
    if (const int line = part(); line != 0) return line;
  }
  return 0;
}

extern "C" __attribute__((export_name("uncaught"))) void uncaught() { Throw(1); }
