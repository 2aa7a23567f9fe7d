#!/bin/sh
# Arm-steps a second of featherstone and of MuJoCo on scene S4, side by side: five interleaved runs of each, medians, ratio, drift.
#   tests/peers/arms.sh PEERS_DIR [BUILD_DIR]    PEERS_DIR holds the peers' drivers' sources and build.sh; needs libmujoco-dev, g++
set -e
peers=$1
build=${2:-build}
[ -f "$peers/build.sh" ] || { echo "usage: $0 PEERS_DIR [BUILD_DIR]: no $peers/build.sh" >&2; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd "$peers" && g++ -O2 -std=c++17 mujoco_bench.cpp -o "$out/mujoco_bench" -lmujoco -lpthread)
for run in 1 2 3 4 5; do
  "$build/bin/arms_bench" hang 1000 | tee -a "$out/ours"
  "$out/mujoco_bench" scene=S4 pose=hang | tee -a "$out/theirs"
done
median() { sed 's/.*armsteps_per_s=\([0-9.e+]*\).*/\1/' "$1" | sort -g | sed -n 3p; }
ours=$(median "$out/ours")
theirs=$(median "$out/theirs")
awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "median arm-steps a second: samebit %.4g, MuJoCo %.4g, ratio %.2f\n", a, b, a / b }'
