#!/usr/bin/env bash
# What a smaller budget costs, by policy, on a bundled training trace.
set -euo pipefail
cd "$(dirname "$0")/.."
weir() {
  echo "\$ weir $*"
  build/bin/weir "$@"
  echo
}

weir replay traces/demo.jsonl.zst --budget 0.5x --policy h_dtr_eq
weir sweep traces/demo.jsonl.zst --budgets 0.1:1.0:0.1 --policies h_dtr,h_dtr_eq,lru,size --plot
