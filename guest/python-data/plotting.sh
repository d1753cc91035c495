# SPDX-License-Identifier: Apache-2.0
# What draws: Pillow, Matplotlib, and what they are made of. To be sourced by `build`. Each is a few files, so that a list
# of them says more than builds of their own, which would look for libraries of this machine.

# Errors of C++ become Python's at the borders of its modules, and libjpeg, FreeType and Qhull leave by longjmp.
plot_c="clang-19 --target=wasm32-wasi --sysroot=$sysroot $setjmp_flags"
plot_cxx="clang++-19 --target=wasm32-wasi --sysroot=$sysroot -nostdinc++ -std=c++17 $exception_flags
  -isystem $cxx_library/include/wasm32-wasi/c++/v1"

# compile_files COMPILER PACKAGE PART FLAGS… -- FILES: objects of a part of a package, named after the files. Those of a
# module are in a directory that is named after it.
compile_files() {
  local compiler=$1 package=$2 objects=$data/build/$2/$3 part=$3 flags=()
  shift 3
  while [ "$1" != -- ]; do
    flags+=("$1")
    shift
  done
  shift
  mkdir -p "$objects"
  cd "$data/src/$package"
  printf '%s\n' "$@" | sed "s|/|_|g; s|.*|$part/&.o|" >> "$data/$package.objects"
  printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c \
    'file=$1; shift; exec "$@" -c "$file" -o "$0/$(echo "$file" | tr / _).o"' "$objects" {} $compiler -O2 -DNDEBUG \
    -Wno-everything -Wcast-function-type-mismatch $maps "${flags[@]}"
}

# start_compiling PACKAGE: forgets what there was of it.
start_compiling() {
  rm -rf "$data/build/$1" "$data/$1.objects"
}

# module NAME: the directory of the objects of a module.
module() {
  echo "${1//.//}.cpython-wasi.so.p"
}

# unpack_upstream NAME [PATCH…]: a source package of Debian, with some of its patches.
unpack_upstream() {
  local files=$work/downloads/$1 to=$data/src/$1 patch
  rm -rf "$to" "$to.debian"
  mkdir -p "$to" "$to.debian"
  tar -xf "$(ls "$files"/*.orig.tar.[gx]z)" -C "$to" --strip-components=1
  [ $# -eq 1 ] || tar -xf "$(ls "$files"/*.debian.tar.*)" -C "$to.debian"
  for patch in "${@:2}"; do
    patch -d "$to" -p1 --forward --fuzz=0 --no-backup-if-mismatch < "$to.debian/debian/patches/$patch"
  done
}

stage_freetype_unpack() {
  # The rest of Debian's patches is for its other programs and its documentation.
  unpack_upstream freetype CVE-2026-23865.patch
}

# Its modules are those of include/freetype/config/ftmodule.h; of the functions beside them, those that others call.
stage_freetype_compile() {
  start_compiling freetype
  compile_files "$plot_c" freetype lib -DFT2_BUILD_LIBRARY -DFT_CONFIG_OPTION_SYSTEM_ZLIB -Iinclude \
    "-I$work/deps/include" -- src/autofit/autofit.c src/base/ft{base,bbox,bitmap,debug,glyph,init,mm,stroke,synth,system,type1}.c \
    src/bdf/bdf.c src/cff/cff.c src/cid/type1cid.c src/gzip/ftgzip.c src/lzw/ftlzw.c src/pcf/pcf.c src/pfr/pfr.c \
    src/psaux/psaux.c src/pshinter/pshinter.c src/psnames/psnames.c src/raster/raster.c src/sdf/sdf.c src/sfnt/sfnt.c \
    src/smooth/smooth.c src/svg/svg.c src/truetype/truetype.c src/type1/type1.c src/type42/type42.c src/winfonts/winfnt.c
}

stage_libjpeg-turbo_unpack() {
  unpack_upstream libjpeg-turbo
}

# The headers that its CMake would write.
configure_jpeg() {
  local version=$1
  sed -E "s/@JPEG_LIB_VERSION@/62/; s/@VERSION@/$version/; s/@LIBJPEG_TURBO_VERSION_NUMBER@/${version//./00}/
    s/@BITS_IN_JSAMPLE@/8/; s/^#cmakedefine ([CDM][A-Z_]*) 1/#define \1 1/; s/^#cmakedefine.*//" jconfig.h.in > jconfig.h
  sed -E "s/@BUILD@/0/; s/@INLINE@/inline/; s/@THREAD_LOCAL@//; s/@CMAKE_PROJECT_NAME@/libjpeg-turbo/; s/@VERSION@/$version/
    s/@SIZE_T@/4/; s/^#cmakedefine (HAVE_BUILTIN_CTZL)/#define \1/; s/^#cmakedefine.*//" jconfigint.h.in > jconfigint.h
  sed "s/@COPYRIGHT_YEAR@/1991-2023/" jversion.h.in > jversion.h
}

stage_libjpeg-turbo_compile() {
  cd "$data/src/libjpeg-turbo"
  configure_jpeg "$(sed -n 's/^set(VERSION \(.*\))$/\1/p' CMakeLists.txt)"
  start_compiling libjpeg-turbo
  compile_files "$plot_c" libjpeg-turbo lib -- j{aricom,capimin,capistd,carith,ccoefct,ccolor,cdctmgr,chuff,cicc,cinit}.c \
    jc{mainct,marker,master,omapi,param,phuff,prepct,sample,trans}.c jd{apimin,apistd,arith,atadst,atasrc,coefct,color}.c \
    jd{dctmgr,huff,icc,input,mainct,marker,master,merge,phuff,postct,sample,trans}.c jerror.c jf{dctflt,dctfst,dctint}.c \
    jidct{flt,fst,int,red}.c jquant{1,2}.c jsimd_none.c jutils.c jmemmgr.c jmemnobs.c
}

stage_qhull_unpack() {
  unpack_upstream qhull
}

stage_qhull_compile() {
  start_compiling qhull
  compile_files "$plot_c" qhull lib -Isrc -- src/libqhull_r/{geom,geom2,global,io,libqhull,mem,merge,poly,poly2,qset}_r.c \
    src/libqhull_r/{random,stat,user,usermem,userprintf}_r.c
}

stage_pillow_unpack() {
  unpack_package pillow
}

stage_pillow_compile() {
  local flags=("-I$data/src/freetype/include" "-I$data/src/libjpeg-turbo" "-I$work/deps/include" $include
    "-DPILLOW_VERSION=\"$(version_of pillow)\"" -DHAVE_LIBZ -DHAVE_LIBJPEG)
  start_compiling pillow
  # libImaging's files that need no library beside these two, and do not fit into this list, are empty without it.
  cd "$data/src/pillow"
  compile_files "$plot_c" pillow "$(module PIL._imaging)" "${flags[@]}" -- src/{_imaging,decode,encode,map,display,outline,path}.c \
    src/libImaging/*.c
  compile_files "$plot_c" pillow "$(module PIL._imagingft)" "${flags[@]}" -- src/_imagingft.c
  compile_files "$plot_c" pillow "$(module PIL._imagingmath)" "${flags[@]}" -- src/_imagingmath.c
  compile_files "$plot_c" pillow "$(module PIL._imagingmorph)" "${flags[@]}" -- src/_imagingmorph.c
}

stage_kiwisolver_unpack() {
  unpack_package kiwisolver
}

stage_kiwisolver_compile() {
  start_compiling kiwisolver
  compile_files "$plot_cxx" kiwisolver "$(module kiwisolver._cext)" -include single_thread.h -I. "-I$tools/cppy/include" $include -- \
    py/src/{kiwisolver,constraint,expression,solver,strength,term,variable}.cpp
}

stage_contourpy_unpack() {
  unpack_package contourpy
}

stage_contourpy_compile() {
  start_compiling contourpy
  compile_files "$plot_cxx" contourpy "$(module contourpy._contourpy)" -include single_thread.h "-DCONTOURPY_VERSION=$(version_of contourpy)" \
    "-I$tools/pybind11/include" $include -- src/{chunk_local,contour_generator,converter,fill_type,line_type}.cpp \
    src/{mpl2005_original,mpl2005,mpl2014,outer_or_hole,serial,threaded,util,wrap,z_interp}.cpp
}

stage_matplotlib_unpack() {
  unpack_package matplotlib
}

stage_matplotlib_compile() {
  local flags=(-Isrc -Iextern/agg24-svn/include "-I$data/src/freetype/include" "-I$data/src/qhull/src"
    "-I$tools/pybind11/include" "-I$data/headers/numpy/include" $include)
  start_compiling matplotlib
  compile_files "$plot_cxx" matplotlib agg "${flags[@]}" -- \
    extern/agg24-svn/src/agg_{bezier_arc,curves,image_filters,trans_affine,vcgen_contour,vcgen_dash,vcgen_stroke,vpgen_segmentator}.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib.backends._backend_agg)" "${flags[@]}" -- \
    src/_backend_agg.cpp src/_backend_agg_wrapper.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib.ft2font)" "${flags[@]}" '-DFREETYPE_BUILD_TYPE="system"' -- \
    src/ft2font.cpp src/ft2font_wrapper.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib._image)" "${flags[@]}" -- src/_image_wrapper.cpp src/py_converters.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib._qhull)" "${flags[@]}" -DMPL_DEVNULL=/dev/null -- src/_qhull_wrapper.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib._tri)" "${flags[@]}" -- src/tri/_tri.cpp src/tri/_tri_wrapper.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib._c_internal_utils)" "${flags[@]}" -- src/_c_internal_utils.cpp
  compile_files "$plot_cxx" matplotlib "$(module matplotlib._path)" "${flags[@]}" -- src/_path_wrapper.cpp
}

# What Matplotlib and contourpy have beside their Python files, and less of those: nothing here has windows, a browser, TeX
# or Sphinx, and the fonts without shapes (AFM) are for PostScript printers that have them.
install_plotting_data() {
  local to=$data/rootfs/$site from=$data/src/matplotlib/lib/matplotlib
  (cd "$to/matplotlib/backends" && rm -rf backend_{cairo,gtk3,gtk3agg,gtk3cairo,gtk4,gtk4agg,gtk4cairo,macosx,nbagg,qt5,qt5agg}.py \
    backend_{qt5cairo,qtagg,qtcairo,qt,tkagg,tkcairo,webagg,webagg_core,wx,wxagg,wxcairo}.py _backend_{gtk,tk}.py \
    qt_compat.py qt_editor)
  rm -rf "$to/matplotlib/sphinxext"
  echo "version = '$(version_of matplotlib)'" > "$to/matplotlib/_version.py"
  mkdir -p "$to/matplotlib/mpl-data/fonts"
  cp -r "$from/mpl-data/fonts/ttf" "$to/matplotlib/mpl-data/fonts"
  cp -r "$from/mpl-data/stylelib" "$to/matplotlib/mpl-data"
  sed 's/^##backend: Agg$/backend: Agg/' "$from/mpl-data/matplotlibrc" > "$to/matplotlib/mpl-data/matplotlibrc"
  sed "s/@contourpy_version@/$(version_of contourpy)/; s/@pybind11_version@/$(version_of pybind11)/; s/@host_cpu@/wasm32/
    s/@[a-z0-9_]*@//" "$data/src/contourpy/lib/contourpy/util/_build_config.py.in" > "$to/contourpy/util/_build_config.py"
}
