# SPDX-License-Identifier: Apache-2.0
# What all scripts share: where things are, progress, hashing. To be sourced by bash scripts.
#
#   DORMOUSE_ROOT    the checkout
#   DORMOUSE_CACHE   expensive build results, keyed by the hash of their recipe; outside the checkout
#   DORMOUSE_BUILD   build tree of the checkout
set -euo pipefail

DORMOUSE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export DORMOUSE_ROOT
export DORMOUSE_CACHE=${DORMOUSE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dormouse}
export DORMOUSE_BUILD=${DORMOUSE_BUILD:-$DORMOUSE_ROOT/build}
DORMOUSE_START=${DORMOUSE_START:-$(date +%s)}
export DORMOUSE_START
mkdir -p "$DORMOUSE_CACHE"

# A line of progress with the seconds since the first script began.
say() {
  printf '[%4ds] %s\n' "$(($(date +%s) - DORMOUSE_START))" "$*"
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Prints one hash over the contents and names of the given files and folders of the checkout.
hash_of() {
  (cd "$DORMOUSE_ROOT" && find "$@" -type f ! -name '*_test.cc' ! -path '*/test/*' ! -name '*.md' ! -name '*.pyc' ! -name engine.profile -print0 \
    | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
}
