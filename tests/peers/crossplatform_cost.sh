#!/bin/sh
# What CrossPlatform costs: steel and collision as shipped against the same text compiled -O3 -march=native, then with fused multiply-add, then with
# -ffast-math as well. Interleaved runs, medians of each run's median frame, one core.
#   tests/peers/crossplatform_cost.sh [BUILD_DIR [RUNS [STEPS]]]
set -e
build=${1:-build}
runs=${2:-5}
steps=${3:-200}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cmake --build "$build" --target boxes_bench boxes_bench_native boxes_bench_fused boxes_bench_loose > "$out/log" 2>&1 || { cat "$out/log"; exit 1; }
median() { sed 's/.* median=\([0-9.e+-]*\).*/\1/' "$1" | sort -g | sed -n "$(((runs + 1) / 2))p"; }
echo "scene   shipped, ms   native   fused    loose    cost of CrossPlatform   of it: no fused operations"
for scene in S1 S2 S3 S3R; do
  run=0
  while [ $run -lt "$runs" ]; do
    run=$((run + 1))
    for kind in "" _native _fused _loose; do "$build/bin/boxes_bench$kind" $scene "$steps" >> "$out/$scene$kind"; done
  done
  awk -v s=$scene -v a="$(median "$out/$scene")" -v b="$(median "$out/${scene}_native")" -v c="$(median "$out/${scene}_fused")" \
    -v d="$(median "$out/${scene}_loose")" \
    'BEGIN { printf "%-7s %11.3f %8.3f %8.3f %8.3f %20.1f %% %25.1f %%\n", s, a, b, c, d, 100 * (a / d - 1), 100 * (b / c - 1) }'
done
