#!/bin/sh
# Milliseconds a frame of steel and of Bullet on scenes S1, S2, S3, S3R, side by side: interleaved runs, medians, ratio.
#   tests/peers/boxes.sh PEERS_DIR [BUILD_DIR [RUNS]]    PEERS_DIR holds the peers' drivers' sources; needs libbullet-dev, g++, pkg-config
set -e
peers=$1
build=${2:-build}
runs=${3:-5}
[ -f "$peers/bullet_bench.cpp" ] || { echo "usage: $0 PEERS_DIR [BUILD_DIR [RUNS]]: no $peers/bullet_bench.cpp" >&2; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# shellcheck disable=SC2046
(cd "$peers" && g++ -O2 -std=c++17 bullet_bench.cpp -o "$out/bullet_bench" $(pkg-config --cflags --libs bullet))
# the middle of what FIELD=NUMBER says in a file
median() { sed "s/.* $2=\([0-9.e+-]*\).*/\1/" "$1" | sort -g | sed -n "$(((runs + 1) / 2))p"; }
for scene in S1 S2 S3 S3R; do
  run=0
  while [ $run -lt "$runs" ]; do
    run=$((run + 1))
    "$build/bin/boxes_bench" $scene >> "$out/ours.$scene"
    "$out/bullet_bench" scene=$scene >> "$out/theirs.$scene"
  done
  tail -n 1 "$out/ours.$scene"
  tail -n 1 "$out/theirs.$scene" | cut -c1-220
  awk -v s=$scene -v a="$(median "$out/ours.$scene" ms)" -v b="$(median "$out/theirs.$scene" ms)" \
    'BEGIN { printf "%s median ms a frame: samebit %.3f, Bullet %.3f, ratio %.2f\n", s, a, b, a / b }'
done
