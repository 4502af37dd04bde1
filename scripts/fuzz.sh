#!/usr/bin/env bash
# scripts/fuzz.sh SECONDS: runs every fuzz target of build/fuzz for an equal share of the time.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t targets < <(find build/fuzz/tests/fuzz -maxdepth 1 -type f -name '*_fuzz' -executable)
if ((${#targets[@]} == 0)); then
  echo "fuzz: nothing to run; build it first with: cmake --workflow --preset=fuzz" >&2
  exit 1
fi
for target in "${targets[@]}"; do
  name=$(basename "$target")
  corpus=build/fuzz/corpus/$name
  found=build/fuzz/found/
  mkdir -p "$corpus" "$found"
  seeds=() # tests/fuzz/corpus/NAME, or what all targets share
  for folder in "tests/fuzz/corpus/$name" tests/fuzz/corpus; do
    [[ -d $folder ]] && seeds=("$folder") && break
  done
  echo "fuzz: $name for $(($1 / ${#targets[@]})) seconds; what breaks it goes to $found"
  "$target" -max_total_time=$(($1 / ${#targets[@]})) -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$found$name-" "$corpus" "${seeds[@]}"
done
