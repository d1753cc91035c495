# SPDX-License-Identifier: Apache-2.0
# Packages of Debian 13 (trixie) on a Debian 12 machine, without touching the system: a private apt
# configuration with its own lists and cache. To be sourced by bash scripts.
#
#   debian_trixie_init DIR                  once; DIR lies outside the checkout and is kept between builds
#   debian_trixie_fetch PINS OUTDIR [NAME…] downloads what the pins file lists (or only the named packages)
#
# A pins file has one package a line, `#` starts a comment:
#   deb NAME VERSION SHA256     binary package; SHA256 of the .deb, which becomes OUTDIR/NAME.deb
#   src NAME VERSION SHA256     source package; SHA256 of the .dsc, which holds the sums of its other
#                               files; all become OUTDIR/NAME/ (files as named by Debian)
#   tar NAME VERSION SHA256     a source package's upstream tarball alone, for which the SHA256 is; it
#                               becomes OUTDIR/NAME/, too
#
#   debian_trixie_pin KIND NAME [VERSION]   prints the pin of the newest version or of the given one, to
#                                           renew a pins file
#
# The mirror is the one that the machine's own apt uses for its Debian release, read at run time; the
# archive's signature is checked against Debian's keyring. What is already in OUTDIR with the right sum is
# not downloaded again. Two builds may share DIR: a lock serialises them.
#
# Debian replaces packages in a stable release now and then. A pinned version that is gone is an error that
# names the version now offered. DORMOUSE_ACCEPT_NEWER_REVISION=1 takes that one if its upstream version is
# the pinned one (`1.2-3` for `1.2-1`), on the archive's signature alone, and says so.
#
# Every function returns non-zero after a message on standard error.

debian_trixie_error() {
  echo "debian_trixie: $*" >&2
  return 1
}

# Prints "URI SUITE" of the machine's Debian release and of its security updates.
debian_trixie_mirrors() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ -n "$codename" ] || { debian_trixie_error "/etc/os-release names no release"; return 1; }
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' \
    | awk -v name="$codename" '$2 == name && !main { main = $1; print $1, "trixie" }
        $2 == name "-security" && !security { security = $1; print $1, "trixie-security" }'
}

debian_trixie_init() {
  local dir=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirrors uri suite
  [ -r "$keyring" ] || { debian_trixie_error "no $keyring: install debian-archive-keyring"; return 1; }
  mirrors=$(debian_trixie_mirrors) || return 1
  case "$mirrors" in
    *" trixie"*) ;;
    *) debian_trixie_error "the machine's apt has no Debian mirror for its own release"; return 1 ;;
  esac
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/sources.list.d" || return 1
  DEBIAN_TRIXIE_DIR=$(cd "$dir" && pwd)
  dir=$DEBIAN_TRIXIE_DIR
  : > "$dir/status"
  while read -r uri suite; do
    printf 'Types: deb deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' \
      "$uri" "$suite" "$keyring"
  done <<< "$mirrors" > "$dir/sources.list.d/trixie.sources.new"
  mv "$dir/sources.list.d/trixie.sources.new" "$dir/sources.list.d/trixie.sources"
  {
    # Proxies, retries and the like are the machine's; its hooks and package sources are not wanted.
    apt-config dump | sed -n -E '/^Acquire::(https?|ftp|Retries|ForceIPv[46])(::| )/p'
    cat <<CONFIG
Dir::Etc::main "/dev/null";
Dir::Etc::parts "$dir/no-parts";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$dir/sources.list.d";
Dir::Etc::preferencesparts "$dir/no-parts";
Dir::State "$dir";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Acquire::Languages "none";
Acquire::PDiffs "false";
APT::Architecture "$(dpkg --print-architecture)";
APT::Sandbox::User "root";
CONFIG
  } > "$dir/apt.conf.new"
  mkdir -p "$dir/no-parts"
  mv "$dir/apt.conf.new" "$dir/apt.conf"
  DEBIAN_TRIXIE_LOCK=$dir/lock
  (
    flock 9
    if [ -z "$(find "$dir/updated" -mmin -720 2>/dev/null)" ]; then
      debian_trixie_apt apt-get -qq update || exit 1
      touch "$dir/updated"
    fi
  ) 9> "$DEBIAN_TRIXIE_LOCK" || { debian_trixie_error "cannot update the package lists"; return 1; }
}

# Runs an apt program under the private configuration.
debian_trixie_apt() {
  APT_CONFIG=$DEBIAN_TRIXIE_DIR/apt.conf LC_ALL=C "$@"
}

# Prints the versions that the archive offers, newest first.
debian_trixie_versions() {
  local kind=$1 name=$2
  if [ "$kind" = deb ]; then
    debian_trixie_apt apt-cache show "$name" 2>/dev/null | sed -n 's/^Version: //p'
  else
    debian_trixie_apt apt-cache showsrc --only-source "$name" 2>/dev/null | sed -n 's/^Version: //p'
  fi | awk '!seen[$0]++' | debian_trixie_newest_first
}

debian_trixie_pin() {
  local kind=$1 name=$2 version=${3:-} sum
  [ -n "$version" ] || version=$(debian_trixie_versions "$kind" "$name" | sed -n 1p)
  [ -n "$version" ] || { debian_trixie_error "the archive has no $kind $name"; return 1; }
  if [ "$kind" = deb ]; then
    sum=$(debian_trixie_apt apt-cache show "$name=$version" | sed -n 's/^SHA256: //p')
  else
    sum=$(debian_trixie_apt apt-cache showsrc --only-source "$name" | awk -v version="$version" -v kind="$kind" '
      /^Version: / { mine = $2 == version } /^[^ ]/ { sums = 0 } /^Checksums-Sha256:/ { sums = mine }
      sums && (kind == "src" ? /\.dsc$/ : /\.orig\.tar\.[a-z0-9]*$/) { print $1 }')
  fi
  echo "$kind $name $version $(sed -n 1p <<< "$sum")"
}

debian_trixie_newest_first() {
  local all=() version i
  while read -r version; do
    for ((i = 0; i < ${#all[@]}; i++)); do
      dpkg --compare-versions "$version" gt "${all[i]}" && break
    done
    all=("${all[@]:0:i}" "$version" "${all[@]:i}")
  done
  [ ${#all[@]} -eq 0 ] || printf '%s\n' "${all[@]}"
}

# debian_trixie_sum FILE SHA256: whether the file has that sum.
debian_trixie_sum() {
  [ -f "$1" ] && [ "$(sha256sum < "$1" | cut -d' ' -f1)" = "$2" ]
}

# debian_trixie_pinned KIND DIR: the file in DIR that a pin of a source has the sum of.
debian_trixie_pinned() {
  case "$1" in
    src) compgen -G "$2/*.dsc" ;;
    tar) compgen -G "$2/*.orig.tar.[gx]z" ;;
  esac
}

# debian_trixie_source_complete KIND DIR: whether every file that the .dsc in DIR names is there and right.
debian_trixie_source_complete() {
  [ "$1" = src ] || return 0
  (cd "$2" && sed -n '/^Checksums-Sha256:/,/^[^ ]/s/^ \([0-9a-f]\{64\}\) [0-9]* \(.*\)$/\1  \2/p' ./*.dsc \
    | sha256sum --check --strict --status)
}

# debian_trixie_one KIND NAME VERSION SHA256 OUTDIR
debian_trixie_one() {
  local kind=$1 name=$2 version=$3 sum=$4 out=$5 offered chosen= scratch checked=yes part=() pinned
  if [ "$kind" = deb ]; then
    debian_trixie_sum "$out/$name.deb" "$sum" && return 0
  elif debian_trixie_sum "$(debian_trixie_pinned "$kind" "$out/$name")" "$sum" \
      && debian_trixie_source_complete "$kind" "$out/$name"; then
    return 0
  fi
  offered=$(debian_trixie_versions "$kind" "$name")
  if grep -qxF -- "$version" <<< "$offered"; then
    chosen=$version
  elif [ "${DORMOUSE_ACCEPT_NEWER_REVISION:-}" = 1 ]; then
    chosen=$(awk -v want="${version%-*}" '{ v = $0; sub(/-[^-]*$/, "", v) } v == want { print; exit }' \
      <<< "$offered")
    checked=
  fi
  if [ -z "$chosen" ]; then
    debian_trixie_error "$kind $name $version is not in the archive (offered:" \
      "$(tr '\n' ' ' <<< "${offered:-nothing}")); renew the pin," \
      "or set DORMOUSE_ACCEPT_NEWER_REVISION=1 to take another revision of the same upstream version"
    return 1
  fi
  [ -n "$checked" ] || echo "debian_trixie: taking $name $chosen in place of $version" >&2
  scratch=$(mktemp -d "$out/.fetch.XXXXXX") || return 1
  if [ "$kind" = deb ]; then
    (cd "$scratch" && debian_trixie_apt apt-get -qq download "$name=$chosen" >&2 \
      && mv -- *.deb "$out/$name.deb.new") || { rm -rf "$scratch"
        debian_trixie_error "cannot download $name $chosen"; return 1; }
    rmdir "$scratch"
    if [ -n "$checked" ] && ! debian_trixie_sum "$out/$name.deb.new" "$sum"; then
      debian_trixie_error "$name $chosen has the SHA-256" \
        "$(sha256sum < "$out/$name.deb.new" | cut -d' ' -f1), pinned is $sum"
      rm -f "$out/$name.deb.new"
      return 1
    fi
    mv "$out/$name.deb.new" "$out/$name.deb"
    return 0
  fi
  [ "$kind" = src ] || part=(--tar-only)
  (cd "$scratch" && debian_trixie_apt apt-get -qq source --download-only --only-source "${part[@]}" \
    "$name=$chosen" >&2) || { rm -rf "$scratch"
      debian_trixie_error "cannot download the source of $name $chosen"; return 1; }
  pinned=$(debian_trixie_pinned "$kind" "$scratch")
  if [ -n "$checked" ] && ! debian_trixie_sum "$pinned" "$sum"; then
    debian_trixie_error "$name $chosen: $(basename "$pinned") has the SHA-256" \
      "$(sha256sum < "$pinned" | cut -d' ' -f1), pinned is $sum"
    rm -rf "$scratch"
    return 1
  fi
  debian_trixie_source_complete "$kind" "$scratch" || { rm -rf "$scratch"
    debian_trixie_error "a file of $name $chosen is damaged"; return 1; }
  rm -rf "${out:?}/$name"
  mv "$scratch" "$out/$name"
}

debian_trixie_fetch() {
  local pins=$1 out=$2 kind name version sum rest only
  shift 2
  only=" $* "
  [ -n "${DEBIAN_TRIXIE_DIR:-}" ] || { debian_trixie_error "call debian_trixie_init first"; return 1; }
  mkdir -p "$out" || return 1
  out=$(cd "$out" && pwd)
  (
    flock 9
    while read -r kind name version sum rest; do
      case "$kind" in
        deb | src | tar) ;;
        '' | '#'*) continue ;;
        *) debian_trixie_error "$pins: unknown kind '$kind'"; exit 1 ;;
      esac
      [ "$only" = "  " ] || [[ "$only" == *" $name "* ]] || continue
      [ -n "$sum" ] || { debian_trixie_error "$pins: $name has no sum"; exit 1; }
      debian_trixie_one "$kind" "$name" "$version" "$sum" "$out" < /dev/null || exit 1
    done < "$pins"
  ) 9> "$DEBIAN_TRIXIE_LOCK"
}
