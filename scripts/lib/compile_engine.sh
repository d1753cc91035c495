#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the C files that dormouse-aot wrote into an engine's shared object. The one place for the flags.
#
#   compile_engine.sh SOURCES OUTPUT.so [--profile FILE] [--instrument] [--jobs N] [--cpu NAME] [--level N]
#
#   SOURCES       dormouse-aot's --output directory; objects go to SOURCES/objects-KIND
#   --profile     optimise with this profile: text as `engine_profile.sh` writes it, or clang's binary form
#   --instrument  build an engine that counts: it writes what it has counted at the process's normal exit, or
#                 when the host calls its symbol `dormouse_write_profile`, to $LLVM_PROFILE_FILE
#   --jobs        parallel compilers, default all cores
#   --cpu         the oldest CPU that the engine must run on, default x86-64-v2
#
# Only what has changed since the last call with the same flags is compiled. Prints a line for each file.
set -euo pipefail

usage() {
  sed -n 's/^# \{0,1\}//; 3,15p' "$0" >&2
  exit 2
}

[ $# -ge 2 ] || usage
sources=$1 output=$2
shift 2
profile='' instrument='' jobs=$(nproc) cpu=x86-64-v2 level=3
while [ $# -gt 0 ]; do
  case "$1" in
    --profile) profile=$2; shift ;;
    --instrument) instrument=1 ;;
    --jobs) jobs=$2; shift ;;
    --cpu) cpu=$2; shift ;;
    --level) level=$2; shift ;;
    *) usage ;;
  esac
  shift
done
clang=${CLANG:-clang-19}

# Wasm defines what C leaves open (overflow, aliasing, float rounding), and nothing unwinds. Lifetime
# markers would cost two calls for each of the many variables. Interpreters dispatch by a computed goto,
# which clang copies into each instruction's code only where its limits on joins are lifted.
flags=(-std=gnu17 "-O$level" "-march=$cpu" -fPIC -fvisibility=hidden -fno-semantic-interposition -fno-plt
  -fno-strict-aliasing -fwrapv -ffp-contract=off -fno-math-errno
  -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-stack-protector
  -fno-ident -fno-addrsig -g0 -w -Xclang -disable-lifetime-markers
  -mllvm -tail-dup-pred-size=1000 -mllvm -tail-dup-succ-size=1000)
link_flags=(-shared -fuse-ld=lld -Wl,-Bsymbolic -Wl,-z,now -Wl,-z,relro -Wl,--build-id=none -Wl,-O1)
kind=plain
if [ -n "$instrument" ]; then
  kind=instrument
  flags+=(-fprofile-generate -DDORMOUSE_PROFILE)
  link_flags+=(-fprofile-generate)
elif [ -n "$profile" ]; then
  kind=profile
fi
objects=$sources/objects-$kind
mkdir -p "$objects"
if [ "$kind" = profile ]; then
  "${PROFDATA:-llvm-profdata-19}" merge -o "$objects/engine.profdata.new" "$profile"
  cmp -s "$objects/engine.profdata.new" "$objects/engine.profdata" \
    || mv "$objects/engine.profdata.new" "$objects/engine.profdata"
  flags+=("-fprofile-use=$objects/engine.profdata" -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date
    # Ordinary functions may lack a profile when the engine has changed a little: not a reason to fail.
    -Wno-backend-plugin)
fi

# A change of flags, compiler, headers or profile rebuilds everything.
key=$( { printf '%s\n' "${flags[@]}"; "$clang" --version; sha256sum < "$sources/engine.h"
         [ "$kind" != profile ] || sha256sum < "$objects/engine.profdata"; } | sha256sum)
if [ "$(cat "$objects/key" 2> /dev/null)" != "$key" ]; then
  rm -f "$objects"/*.o
  echo "$key" > "$objects/key"
fi

compile_one() {
  local source=$1 object start
  object=$objects/$(basename "$source" .c).o
  if [ "$object" -nt "$source" ]; then return 0; fi
  start=$(date +%s.%N)
  "$clang" "${flags[@]}" -c "$source" -o "$object.new" || return 1
  mv "$object.new" "$object"
  awk -v name="$(basename "$source")" -v start="$start" -v end="$(date +%s.%N)" \
    -v bytes="$(stat -c %s "$object")" \
    'BEGIN { printf "  %-16s %6.1f s  %6.0f KiB\n", name, end - start, bytes / 1024 }' >&2
}

# The largest first, so that the last ones to finish are short.
mapfile -t files < <(ls -S "$sources"/engine_*.c)
started=$(date +%s)
running=0 failed=0
for file in "${files[@]}"; do
  if [ "$running" -ge "$jobs" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
  [ "$failed" = 0 ] || break
  compile_one "$file" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
[ "$failed" = 0 ] || { echo "compile_engine: a file did not compile" >&2; exit 1; }

linked=()
for file in "${files[@]}"; do linked+=("$objects/$(basename "$file" .c).o"); done
"$clang" "${link_flags[@]}" -o "$output.new" "${linked[@]}"
mv "$output.new" "$output"
echo "compile_engine: $output, $(stat -c %s "$output") bytes, $(($(date +%s) - started)) s" >&2
