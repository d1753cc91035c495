#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the profile with which clang optimises an engine: builds an instrumented engine, runs training
# programs in it, and writes the hot functions' counts as text, to be kept beside the guest's recipe.
#
#   engine_profile.sh WASM OUTPUT NAME LANGUAGE ROOTFS CELL… [-- NAME LANGUAGE ROOTFS CELL…]
#
#   WASM    the guest's module, as guest/NAME/build writes it
#   OUTPUT  guest/NAME/engine.profile
#   CELL    programs, see bench/training/; further groups after `--` run in the same engine under another
#           language (typescript beside javascript)
#
#   engine_profile.sh engine.wasm guest/python/engine.profile python-3.13 python ROOTFS bench/training/python/*.py
#
# Needs dormouse and dormouse-aot in $DORMOUSE_BUILD. A profile names functions, so that it stays useful when the
# guest changes a little: functions that are new or differ are compiled as without a profile. Renew it with a
# guest's major version, or when its speed is measured to have fallen. Takes about twice the time of a compile.
. "$(dirname "$0")/common.sh"

[ $# -ge 6 ] || { sed -n 's/^# \{0,1\}//; 3,14p' "$0" >&2; exit 2; }
wasm=$1 output=$2
shift 2
scratch=$(mktemp -d "$DORMOUSE_CACHE/profile.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
aot=$DORMOUSE_BUILD/dormouse-aot dormouse=$DORMOUSE_BUILD/dormouse
profdata=${PROFDATA:-llvm-profdata-19}

adapter=()
[ ! -e "$(dirname "$output")/adapter.c" ] || adapter=(--adapter "$(dirname "$output")/adapter.c")
"$aot" "$wasm" --output "$scratch/c" "${adapter[@]}"
bash "$DORMOUSE_ROOT/scripts/lib/compile_engine.sh" "$scratch/c" "$scratch/engine.so" --instrument

# Unloading the engine adds its counts to the file (%m merges), both at the end of the boot and after the cells.
export LLVM_PROFILE_FILE=$scratch/raw/%m.profraw
while [ $# -gt 0 ]; do
  name=$1 language=$2 rootfs=$3
  shift 3
  cells=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    cells+=(--warm-up "$1")
    shift
  done
  [ $# -eq 0 ] || shift
  say "training $name"
  "$dormouse" boot-engine --module "$scratch/engine.so" --memory "$scratch/c/memory.img" --rootfs "$rootfs" \
    --name "$name" --language "$language" --version 0 --output "$scratch/engine" "${cells[@]}" \
    > "$scratch/log" 2>&1 || { tail -20 "$scratch/log" >&2; fail "the training programs do not run in $name"; }
done
compgen -G "$scratch/raw/*.profraw" > /dev/null || fail "the engine wrote no counts"
"$profdata" merge -sparse -text -o "$scratch/all.proftext" "$scratch"/raw/*.profraw

# Records are paragraphs: name, hash, number of counters, counters, values seen at calls (the first one begins with
# the file's header). Those without a count worth 1/100000 of the largest are left out, and so are the comments.
awk 'BEGIN { RS = ""; FS = "\n" }
  function peak(i, counters, top) {
    for (i = 1; i <= NF; i++) {
      if ($i ~ /^#/) counters = $i == "# Counter Values:"
      else if (counters && $i + 0 > top) top = $i + 0
    }
    return top
  }
  NR == FNR { peaks[FNR] = peak(0, 0, 0); if (peaks[FNR] > hottest) hottest = peaks[FNR]; next }
  FNR == 1 || peaks[FNR] >= hottest / 100000 {
    for (i = 1; i <= NF; i++) if ($i !~ /^#/) print $i
    print ""
  }' "$scratch/all.proftext" "$scratch/all.proftext" > "$scratch/hot.proftext"
"$profdata" merge -o "$scratch/check.profdata" "$scratch/hot.proftext"
mv "$scratch/hot.proftext" "$output"
say "$output: $(grep -c '^w_' "$output") functions, $(stat -c %s "$output") bytes"
