#!/usr/bin/env bash
# Training inside half of the memory it needs, beside stock; then what the simulator says of other
# budgets and policies, on a bundled trace.
set -euo pipefail
cd "$(dirname "$0")/.."
weir() {
  echo "\$ weir $*"
  build/bin/weir "$@"
  echo
}

.venv/bin/python scripts/demo_training.py
weir sweep traces/demo.jsonl.zst --budgets 0.2:1.0:0.2 --policies h_dtr,h_dtr_eq,lru,size
