# SPDX-License-Identifier: Apache-2.0
# How CPython becomes a guest: the stages that every engine with this interpreter goes through. To be sourced by bash
# scripts with the output directory as argument, which then call:
#
#   python_compile   all up to libpython3.13.a
#   python_rootfs    the standard library, $work/rootfs
#   stage NAME …     more stages of their own, $guest being their folder
#
# DORMOUSE_WORK   scratch directory; kept, and finished stages are not repeated. Default: a temporary one. Engines with
#                 the same interpreter may share it, one after the other
# DORMOUSE_JOBS   parallel compilations; default: the number of cores

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
guest=$(cd "$(dirname "$0")" && pwd)
source "$here/../../scripts/lib/debian_trixie.sh"

[ $# -eq 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
jobs=${DORMOUSE_JOBS:-$(nproc)}
if [ -n "${DORMOUSE_WORK:-}" ]; then
  mkdir -p "$DORMOUSE_WORK"
  work=$(cd "$DORMOUSE_WORK" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"/{downloads,logs,stamps,src}

sysroot=$work/sysroot/usr
python_version=3.13
python_source=$work/src/python
libdir=usr/lib/python$python_version
# One date for all that CPython wants to know about its build, so that equal inputs make equal engines.
export SOURCE_DATE_EPOCH=1749600000
export LC_ALL=C
# Names of directories in the scratch area do not belong into the engine.
maps="-ffile-prefix-map=$work=/build -ffile-prefix-map=$here=/driver"
cc="clang-19 --target=wasm32-wasi --sysroot=$sysroot"

fail() {
  echo "$0: $*" >&2
  exit 1
}

check_tools() {
  local tool
  for tool in clang-19 wasm-ld-19 llvm-ar-19 llvm-ranlib-19 make patch dpkg xz apt-get flock; do
    command -v "$tool" > /dev/null || fail "$tool is missing: see the list in guest/python/README.md"
  done
  [ "$(dpkg --print-architecture)" = amd64 ] || fail "the pinned build tools are amd64 programs"
  echo 'int main(void){return 0;}' > "$work/probe.c"
  clang-19 --target=wasm32-wasi -print-libgcc-file-name 2> /dev/null | xargs -r test -f \
    || fail "clang-19 has no runtime library for wasm32: install libclang-rt-19-dev-wasm32"
}

# stage NAME INPUTS… : runs stage_NAME unless its inputs are the same as when it last succeeded. INPUTS are files
# and directories; the stage before is always one of them.
previous=
stage() {
  local name=$1 sum started=$SECONDS
  shift
  sum=$({ echo "$previous $work"; declare -f "stage_$name"; [ $# -eq 0 ] || find "$@" -type f -not -path '*/__pycache__/*' \
    -print0 | sort -z | xargs -0 -r sha256sum | sed "s|  $guest/|  |; s|  $here/|  |"; } | sha256sum | cut -d' ' -f1)
  previous=$sum
  if [ "$(cat "$work/stamps/$name" 2> /dev/null)" = "$sum" ]; then
    printf '[python] %-12s unchanged\n' "$name"
    return
  fi
  rm -f "$work/stamps/$name"
  printf '[python] %-12s …\n' "$name"
  local status=0
  # Not in a condition: bash would not stop at a failing command inside it.
  set +e
  (set -e; "stage_$name") > "$work/logs/$name" 2>&1
  status=$?
  set -e
  if [ $status -ne 0 ]; then
    tail -n 30 "$work/logs/$name" >&2
    [ -n "${DORMOUSE_WORK:-}" ] || cp "$work/logs/$name" "$out/failed-$name.log"
    fail "stage $name failed after $((SECONDS - started)) s"
  fi
  echo "$sum" > "$work/stamps/$name"
  printf '[python] %-12s %4d s\n' "$name" $((SECONDS - started))
}

stage_packages() {
  debian_trixie_init "${DORMOUSE_APT:-$work/apt}"
  debian_trixie_fetch "$here/pins" "$work/downloads"
}

# unpack NAME: the upstream source of a package, with those patches of Debian's that the arguments name, in order.
unpack() {
  local name=$1 files=$work/downloads/$1 to=$work/src/$1 patch
  shift
  rm -rf "$to" "$to.debian"
  mkdir -p "$to" "$to.debian"
  tar -xf "$(ls "$files"/*.orig.tar.[gx]z)" -C "$to" --strip-components=1
  tar -xf "$(ls "$files"/*.debian.tar.*)" -C "$to.debian"
  for patch in "$@"; do
    patch -d "$to" -p1 --forward --fuzz=0 --no-backup-if-mismatch < "$to.debian/debian/patches/$patch"
  done
}

stage_unpack() {
  local package patch
  rm -rf "$work/host" "$work/sysroot" "$work/zones"
  for package in python3.13-minimal libpython3.13-minimal libpython3.13-stdlib libc6 libexpat1 zlib1g tcl8.6 libtcl8.6; do
    dpkg -x "$work/downloads/$package.deb" "$work/host"
  done
  dpkg -x "$work/downloads/wasi-libc.deb" "$work/sysroot"
  dpkg -x "$work/downloads/tzdata.deb" "$work/zones"
  dpkg -x "$work/downloads/tzdata-legacy.deb" "$work/zones"
  unpack zlib
  unpack bzip2
  unpack musl
  unpack xz-utils 0001-liblzma-Fix-a-buffer-overflow-in-lzma_index_append.patch
  # Fixes of faults; the rest of the series is about how Debian packages SQLite.
  unpack sqlite3 41-fix_a_bug_in_the_NOT_NULL-IS_NULL_optimization.patch 50-CVE-2025-29087.patch \
    51-CVE-2025-29088.patch 52-CVE-2025-6965.patch 53-CVE-2025-7709.patch 54-CVE-2026-11822_CVE-2026-11824.patch
  unpack python3.13
  rm -rf "$python_source"
  mv "$work/src/python3.13" "$python_source"
  # Likewise: every security fix, and the fixes of crashes.
  grep -E '^(CVE-|dict-use-after-free|traverse-managed-dicts)' "$work/src/python3.13.debian/debian/patches/series" \
    | while read -r patch; do
      patch -d "$python_source" -p1 --forward --no-backup-if-mismatch \
        < "$work/src/python3.13.debian/debian/patches/$patch"
    done
  for patch in "$here"/patches/*.patch; do
    patch -d "$python_source" -p1 --forward --fuzz=0 --no-backup-if-mismatch < "$patch"
  done
  host_program python3 python3.13
  host_program tclsh tclsh8.6
}

# Debian 13's programs run here on their own C library, through its loader.
host_program() {
  mkdir -p "$work/bin"
  cat > "$work/bin/$1" << WRAPPER
#!/bin/sh
export TCL_LIBRARY=$work/host/usr/share/tcltk/tcl8.6
exec $work/host/usr/lib64/ld-linux-x86-64.so.2 --library-path $work/host/usr/lib/x86_64-linux-gnu \\
  --argv0 $work/host/usr/bin/$2 $work/host/usr/bin/$2 "\$@"
WRAPPER
  chmod +x "$work/bin/$1"
  "$work/bin/$1" < /dev/null
}

# compile OBJECTDIR FLAGS -- FILES: to objects named after the files.
compile() {
  local objects=$1 flags=() file
  shift
  while [ "$1" != -- ]; do
    flags+=("$1")
    shift
  done
  shift
  mkdir -p "$objects"
  printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c \
    'file=$1; shift; exec "$@" -c "$file" -o "$0/$(basename "$file" .c).o"' "$objects" {} $cc -w -DNDEBUG $maps "${flags[@]}"
}

archive() {
  rm -f "$work/deps/lib/$1"
  llvm-ar-19 rcs "$work/deps/lib/$1" "$2"/*.o
}

build_zlib() {
  cd "$work/src/zlib"
  compile "$work/objects/zlib" -O3 -DHAVE_UNISTD_H -- adler32.c compress.c crc32.c deflate.c infback.c inffast.c \
    inflate.c inftrees.c trees.c uncompr.c zutil.c
  archive libz.a "$work/objects/zlib"
  cp zlib.h zconf.h "$work/deps/include"
}

build_bzip2() {
  cd "$work/src/bzip2"
  compile "$work/objects/bzip2" -O3 -- blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c
  archive libbz2.a "$work/objects/bzip2"
  cp bzlib.h "$work/deps/include"
}

build_lzma() {
  cd "$work/src/xz-utils/src/liblzma"
  compile "$work/objects/lzma" -O3 -DHAVE_CONFIG_H "-I$here/driver/lzma" -I../common -Iapi -Icommon -Icheck -Idelta \
    -Ilz -Ilzma -Irangecoder -Isimple -- common/hardware_physmem.c $(ls check/*.c common/*.c delta/*.c lz/*.c \
    lzma/*.c rangecoder/*.c simple/*.c | grep -v -E '_small|tablegen|_gen\.c|_mt\.c|hardware_|outqueue')
  archive liblzma.a "$work/objects/lzma"
  cp -r api/* "$work/deps/include"
}

generate_sqlite() {
  mkdir -p "$work/sqlite"
  cd "$work/sqlite"
  PATH=$work/bin:$PATH make -f "$work/src/sqlite3/main.mk" TOP="$work/src/sqlite3" BCC=clang-19 TCC=clang-19 \
    NAWK=awk target_source
  "$work/bin/tclsh" "$work/src/sqlite3/tool/mksqlite3c.tcl"
  cp sqlite3.h tsrc/sqlite3ext.h "$work/deps/include"
}

build_sqlite() {
  # The features of Debian's own build, as far as they make sense without threads and shared libraries.
  compile "$work/objects/sqlite" -O2 "-I$work/sqlite" -DSQLITE_THREADSAFE=0 \
    -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS \
    -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_GEOPOLY \
    -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB \
    -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DHAVE_USLEEP=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_GMTIME_R=1 \
    -- "$here/driver/sqlite_wasi.c"
  archive libsqlite3.a "$work/objects/sqlite"
}

# What configure finds out in minutes of small compilations is the same whenever the sources and the compiler are: it is
# kept in configure.answers. After a change of versions the build asks again and leaves the new file in the scratch area.
answers_title() {
  echo "# $(sha256sum < "$here/pins" | cut -c1-16), $(clang-19 --version | head -n 1)"
}

write_answers() {
  { answers_title
    echo "# What CPython's configure found out; made by guest/python/build (configure_python), not by hand."
    sed -n '/^## Cache variables/,/^## Output variables/p' config.log \
      | grep -E '^(ac|ax|py)_cv_' | grep -vE '^(ac_cv_env|ac_cv_path|ac_cv_prog_[A-Z]|ac_cv_prog_ac_ct)|[=:].*/'
  } > "$work/configure.answers"
}

configure_python() {
  rm -rf "$work/python"
  mkdir -p "$work/python" "$work/empty"
  cd "$work/python"
  export CONFIG_SITE="$python_source/Tools/wasm/config.site-wasm32-wasi $here/config.site"
  if [ "$(head -n 1 "$here/configure.answers")" = "$(answers_title)" ]; then
    CONFIG_SITE="$here/configure.answers $CONFIG_SITE"
  else
    echo "configure.answers is of other versions: asking everything"
  fi
  # Without these, configure finds the libraries of this machine.
  export PKG_CONFIG_LIBDIR=$work/empty PKG_CONFIG_PATH=
  export CC="$cc" CPP="$cc -E" CXX="clang++-19 --target=wasm32-wasi --sysroot=$sysroot"
  export AR=llvm-ar-19 RANLIB=llvm-ranlib-19 LLVM_AR=llvm-ar-19 HOSTRUNNER=/bin/false
  export OPT="-DNDEBUG -fwrapv -O3 -Wall -Qunused-arguments -include $here/driver/wasi_compat.h $maps"
  export ZLIB_CFLAGS=-I$work/deps/include ZLIB_LIBS="-L$work/deps/lib -lz"
  export BZIP2_CFLAGS=-I$work/deps/include BZIP2_LIBS="-L$work/deps/lib -lbz2"
  export LIBLZMA_CFLAGS=-I$work/deps/include LIBLZMA_LIBS="-L$work/deps/lib -llzma"
  export LIBSQLITE3_CFLAGS=-I$work/deps/include LIBSQLITE3_LIBS="-L$work/deps/lib -lsqlite3"
  "$python_source/configure" --prefix=/usr --host=wasm32-wasi --build=x86_64-pc-linux-gnu \
    --with-build-python="$work/bin/python3" --disable-test-modules --without-ensurepip --with-pymalloc
  write_answers
}

stage_configure() {
  local compiling
  mkdir -p "$work/deps/lib" "$work/deps/include"
  rm -rf "$work/sqlite" "$work/objects"
  generate_sqlite
  # SQLite is one large file.
  (set -e; build_sqlite) &
  compiling=$!
  (set -e; jobs=$((jobs > 1 ? jobs - 1 : 1)); build_zlib; build_bzip2; build_lzma)
  configure_python
  wait "$compiling"
}

stage_compile() {
  cd "$work/python"
  make -j "$jobs" libpython$python_version.a
  make pybuilddir.txt
}

compile_driver() {
  local shim=$work/objects/musl header source
  mkdir -p "$shim" "$work/objects/driver"
  # Headers of musl's own that its zone lookup wants; driver/timezone.c has what it needs of them.
  for header in libc.h lock.h fork_impl.h; do : > "$shim/$header"; done
  cd "$work/objects/driver"
  for source in driver cell stop memory module immortal wasi_compat wasi_files; do
    $cc -O2 -Wall -Wextra -Werror -Wno-unused-parameter $maps -D_WASI_EMULATED_SIGNAL -I"$python_source/Include" \
      -I"$python_source/Include/internal" -I"$work/python" -c "$here/driver/$source.c"
  done
  $cc -O2 -w $maps -D_WASI_EMULATED_MMAN -I"$shim" -I"$work/src/musl/src/time" -c "$here/driver/timezone.c"
}

# link_engine OUTPUT MORE… : the driver, CPython, its libraries, and what else is named.
link_engine() {
  local output=$1
  shift
  # -O0, or clang runs wasm-opt where it finds one, which splits the data into very many segments.
  $cc -O0 -mexec-model=reactor -Wl,-z,stack-size=16777216 -Wl,--stack-first -Wl,--gc-sections -Wl,--strip-debug \
    -o "$output" "$work"/objects/driver/*.o "$@" "$work/python/libpython$python_version.a" \
    "$work/python/Modules/_decimal/libmpdec/libmpdec.a" "$work/python/Modules/_hacl/libHacl_Hash_SHA2.a" \
    "$work/python/Modules/expat/libexpat.a" -L"$work/deps/lib" -lsqlite3 -lz -lbz2 -llzma -ldl \
    -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -lm
}

stage_link() {
  compile_driver
  link_engine "$work/engine.wasm"
}

stage_rootfs() {
  local root=$work/rootfs lib=$work/rootfs/$libdir zones=$work/rootfs/usr/share/zoneinfo
  rm -rf "$root"
  mkdir -p "$lib" "$zones" "$root/usr/lib/dormouse/packages"
  cp -r "$python_source/Lib/." "$lib"
  cd "$lib"
  # What cannot work here (guest/python/README.md has the list), and what only serves CPython's own developers.
  rm -rf test idlelib turtledemo turtle.py tkinter ensurepip venv site-packages ctypes curses pty.py tty.py \
    dbm/gnu.py dbm/ndbm.py __phello__ __hello__.py antigravity.py lib-dynload \
    _aix_support.py _android_support.py _apple_support.py _ios_support.py _osx_support.py
  find . -type d \( -name __pycache__ -o -name test -o -name tests \) -prune -exec rm -rf {} +
  find . -type f -not -name '*.py' -delete
  find . -type d -empty -delete
  cp -r "$here/runtime/." "$lib"
  sed "s,$work,/build,g; s,$here,/driver,g" \
    "$work/python/build/lib.wasi-wasm32-$python_version/_sysconfigdata__wasi_wasm32-wasi.py" \
    > _sysconfigdata__wasi_wasm32-wasi.py
  find . -type d -name __pycache__ -prune -exec rm -rf {} +
  "$work/bin/python3" -I -m compileall -q --invalidation-mode unchecked-hash -s "$root" -p / "$lib"
  cp -rL "$work/zones/usr/share/zoneinfo/." "$zones"
  (cd "$zones" && rm -rf right posix localtime posixrules tzdata.zi leapseconds leap-seconds.list ./*.tab)
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

python_compile() {
  check_tools
  stage packages "$here/pins"
  stage unpack "$here/patches"
  stage configure "$here/config.site" "$here/configure.answers" "$here/driver/wasi_compat.h" \
    "$here/driver/sqlite_wasi.c" "$here/driver/lzma"
  stage compile
  compiled=$previous
}

python_rootfs() {
  previous=$compiled
  stage rootfs "$here/runtime"
}

# deliver WASM ROOTFS: what a guest consists of, put into the output directory whole.
deliver() {
  rm -rf "$out/rootfs.new" "$out/rootfs.old"
  cp -a "$2" "$out/rootfs.new"
  [ ! -e "$out/rootfs" ] || mv "$out/rootfs" "$out/rootfs.old"
  mv "$out/rootfs.new" "$out/rootfs"
  rm -rf "$out/rootfs.old"
  cp "$1" "$out/engine.wasm.new"
  mv "$out/engine.wasm.new" "$out/engine.wasm"
  write_versions > "$out/versions.json"
  awk '$1 == "src" && $2 == "python3.13" { sub(/-.*/, "", $3); print $3 }' "$here/pins" > "$out/version"
  printf '[python] done         %4d s: %s\n' "$SECONDS" "$out"
}
