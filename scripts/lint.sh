#!/usr/bin/env bash
# Checks layout, spelling and layers of every file. With --fix: mends what can be mended.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export RUFF_CACHE_DIR=build/ruff

files() { # files PATTERN...: those of ours with such names
  local names=()
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find . \( -path ./build -o -path ./.venv -o -path ./.git -o -path ./.cache \) -prune -o \
    -type f \( "${names[@]:1}" \) -print | sort
}

mapfile -t cpp < <(files '*.h' '*.cpp')
mapfile -t cmake < <(files CMakeLists.txt '*.cmake')
mapfile -t text < <(files '*.h' '*.cpp' '*.cmake' CMakeLists.txt Makefile '*.py' '*.sh' '*.md' \
  '*.json' '*.toml' '*.txt' '*.yaml')

fix() {
  clang-format-14 -i "${cpp[@]}"
  cmake-format -c .cmake-format.py -i "${cmake[@]}"
  ruff check -q --fix .
  ruff format -q .
  scripts/end_of_file.py --fix "${text[@]}"
}

failed=()
check() { # check NAME COMMAND...
  local name=$1
  shift
  "$@" || failed+=("$name")
}

if [[ ${1:-} == --fix ]]; then
  fix
  exit
fi
check clang-format clang-format-14 --dry-run -Werror "${cpp[@]}"
check cmake-format cmake-format -c .cmake-format.py --check "${cmake[@]}"
check ruff ruff check -q .
check ruff-format ruff format -q --check .
check codespell codespell
check end-of-file scripts/end_of_file.py "${text[@]}"
check layers scripts/check_layers.py .
if ((${#failed[@]})); then
  echo "lint: failed: ${failed[*]} (make format mends layout)" >&2
  exit 1
fi
echo "lint: all good"
