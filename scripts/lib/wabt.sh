# SPDX-License-Identifier: Apache-2.0
# libwabt (the WebAssembly reader that dormouse-aot is built on), without installing it: Debian 12's own
# package is downloaded, checked and unpacked into the cache. To be sourced, or run for the path alone:
#
#   cmake -DWABT_ROOT="$(bash scripts/lib/wabt.sh)" …
#
# `wabt_root` prints a directory with include/wabt/*.h and lib/libwabt.a. Nothing is downloaded when it is
# there already. Messages go to standard error.

WABT_VERSION=1.0.32-1
WABT_SHA256=f258a5cd377afac3361fc1dcb6fb10e813a88ab32c1895eba63fd7422801e9f1

wabt_root() (
  set -e
  cache=${DORMOUSE_CACHE:-$HOME/.cache/dormouse}
  root=$cache/wabt-${WABT_SHA256:0:12}
  if [ ! -f "$root/lib/libwabt.a" ]; then
    mkdir -p "$cache"
    exec 9> "$cache/wabt.lock"
    flock 9
  fi
  if [ ! -f "$root/lib/libwabt.a" ]; then
    scratch=$(mktemp -d "$cache/wabt.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    [ "$(id -u)" != 0 ] || chmod 755 "$scratch"
    (cd "$scratch" && apt-get -qq -o APT::Sandbox::User=root download "wabt=$WABT_VERSION" >&2) || {
      echo "wabt: cannot download the package wabt $WABT_VERSION (is apt's list up to date?)" >&2
      exit 1
    }
    file=$(ls "$scratch"/wabt_*.deb)
    sum=$(sha256sum < "$file" | cut -d' ' -f1)
    if [ "$sum" != "$WABT_SHA256" ]; then
      echo "wabt: the package has the SHA-256 $sum, pinned is $WABT_SHA256" >&2
      exit 1
    fi
    dpkg-deb -x "$file" "$scratch/x"
    mkdir -p "$scratch/root/lib"
    mv "$scratch/x/usr/include" "$scratch/root/include"
    mv "$scratch"/x/usr/lib/*/libwabt.a "$scratch/root/lib/"
    rm -rf "$root"
    mv "$scratch/root" "$root"
  fi
  echo "$root"
)

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  wabt_root
fi
