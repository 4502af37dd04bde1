#!/usr/bin/env bash
# Prepares a machine: the Debian packages of packages.txt and the Python tools of requirements.txt.
# Does nothing, quickly, when everything is there. Exit code 2: something is missing (one line).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "setup: $*" >&2
  exit 2
}

# For machines without dpkg, or with the tool from elsewhere.
recognised() {
  case $1 in
    -) ! command -v dpkg-query >/dev/null ;;
    @*) python3 -c "import ${1#@}" 2>/dev/null ;;
    \<*) echo "#include $1" | g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing_packages() {
  local installed package probe
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null |
    sed -n 's/ installed$//p') || true
  while read -r package probe; do
    [[ -z $package || $package == \#* ]] && continue
    grep -qxF -- "$package" <<<"$installed" || recognised "$probe" || echo "$package"
  done <scripts/packages.txt
}

may_be_root() { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

install_packages() {
  may_be_root && command -v apt-get >/dev/null || return 0
  echo "setup: installing $*"
  as_root apt-get update -qq >/dev/null 2>&1 || true # an old package list may still do
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
    >/dev/null 2>&1 || true # what is still missing is named by the caller
}

need_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) && return
  install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || fail "missing packages, install them with: apt-get install ${missing[*]}"
}

# The stamp names all that the environment depends on; a moved tree has another path.
need_python_tools() {
  local stamp
  stamp=.venv/ready-$({ cat scripts/requirements.txt && pwd && python3 --version; } |
    sha256sum | cut -c1-16)
  [[ -e $stamp ]] && return
  echo "setup: making .venv"
  python3 -m venv --clear .venv >/dev/null || fail "cannot make a Python environment in .venv"
  .venv/bin/pip install -qq --disable-pip-version-check -r scripts/requirements.txt ||
    fail "cannot install scripts/requirements.txt; is the Python package index in reach?"
  touch "$stamp"
}

# So that .venv finds python/weir. From site-packages, so it stays right when the tree is moved.
need_package_path() {
  local path=../../../../python file
  for file in .venv/lib/python3*/site-packages; do
    file+=/weir.pth
    [[ -e $file && $(<"$file") == "$path" ]] || echo "$path" >"$file"
  done
}

need_packages
need_python_tools
need_package_path
