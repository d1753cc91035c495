# SPDX-License-Identifier: Apache-2.0
# C++ exceptions and setjmp for the guest, by WebAssembly's exception handling. Debian's libc++ and libc++abi for this
# target are made without; here they are made once more, with, of the same release's sources. To be sourced by `build`.
#
#   stage_exceptions        $exceptions/lib/libexceptions.a; needs stage_data_packages and stage_data_unpack
#   $exception_flags        to compile C++ whose exceptions are to be caught or to destroy objects on their way
#   $setjmp_flags           to compile C that calls setjmp or longjmp
#   $exception_libraries    to link either with: in place of -lc++ -lc++abi
#
# What is compiled without these flags is left by exceptions and longjmp as if it were not there: nothing is cleaned up.

exceptions=$data/exceptions
exception_flags=-fwasm-exceptions
setjmp_flags="-fwasm-exceptions -mllvm -wasm-enable-sjlj"
cxx_library=$data/cxx/usr/lib/llvm-19
# The new objects come first; of Debian's remains what has nothing to do with exceptions.
exception_libraries="-L$exceptions/lib -L$cxx_library/lib/wasm32-wasi -lexceptions -lc++ -lc++abi -lsetjmp"

fetch_llvm() {
  rm -rf "$exceptions"
  mkdir -p "$exceptions/lib" "$exceptions/objects"
  "$data/venv/bin/python" -m pip --disable-pip-version-check download --quiet --no-deps --require-hashes \
    --only-binary :all: --platform manylinux2010_x86_64 -d "$exceptions" -r "$guest/llvm.txt"
  unzip -q "$exceptions"/*.whl 'ziglang/lib/libunwind/*' 'ziglang/lib/libcxxabi/*' 'ziglang/lib/libcxx/src/*' \
    -d "$exceptions"
  rm "$exceptions"/*.whl
}

# The sources that Debian's libraries consist of, with exceptions in place of the stand-ins for them. Debian's demangler
# will do: it throws nothing and takes long to compile.
exception_sources() {
  local abi=libcxxabi/src cxx=libcxx/src
  echo libunwind/src/Unwind-wasm.c $abi/cxa_exception.cpp $abi/cxa_personality.cpp
  { llvm-ar-19 t "$cxx_library/lib/wasm32-wasi/libc++abi.a" | sed "s|^|$abi/|"
    llvm-ar-19 t "$cxx_library/lib/wasm32-wasi/libc++.a" | sed "s|^|$cxx/|"
  } | sed 's|\.o$||' | grep -vE '/(cxa_noexception|cxa_demangle)\.' | while read -r source; do
    # Without their directories in an archive, and libc++.a has libc++abi's objects as well.
    for source in "$source" "$cxx/ryu/${source##*/}" "$cxx/filesystem/${source##*/}"; do
      [ ! -f "$source" ] || echo "$source"
    done
  done | sort -u
}

stage_exceptions() {
  fetch_llvm
  cd "$exceptions/ziglang/lib"
  exception_sources | xargs -n 1 | xargs -P "$jobs" -I{} sh -c 'source=$1 object=$2/$(basename "$1").o; shift 2
    case "$source" in
      *.c) exec clang-19 "$@" -D_LIBUNWIND_HIDE_SYMBOLS -D_LIBUNWIND_HAS_NO_THREADS -c "$source" -o "$object" ;;
      *) exec clang++-19 "$@" -std=c++23 -nostdinc++ -isystem "$0/include/wasm32-wasi/c++/v1" -Ilibcxx/src -Ilibcxxabi/include \
        -D_LIBCPP_BUILDING_LIBRARY -D_LIBCXXABI_BUILDING_LIBRARY -DLIBCXX_BUILDING_LIBCXXABI -D_LIBCXXABI_HAS_NO_THREADS \
        -D_LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS -D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES -c "$source" -o "$object" ;;
    esac' "$cxx_library" {} "$exceptions/objects" --target=wasm32-wasi "--sysroot=$sysroot" -O2 -DNDEBUG -w \
    $maps $exception_flags -Ilibunwind/include
  llvm-ar-19 rcs "$exceptions/lib/libexceptions.a" "$exceptions"/objects/*.o
  rm -rf "$exceptions/ziglang"
  # Says whether it works: see test/exceptions.mjs.
  clang++-19 --target=wasm32-wasi "--sysroot=$sysroot" -O2 -Wall -Wextra -Werror -std=c++20 -nostdinc++ \
    -isystem "$cxx_library/include/wasm32-wasi/c++/v1" $setjmp_flags -mexec-model=reactor \
    -o "$exceptions/check.wasm" "$guest/test/exceptions.cc" $exception_libraries
}
