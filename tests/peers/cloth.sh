#!/bin/sh
# Nanoseconds for each distance constraint of xpbd and of Bullet's soft bodies on one cloth: interleaved runs, medians, ratio; then xpbd on two threads.
#   tests/peers/cloth.sh [BUILD_DIR [RUNS [SIDE]]]    needs libbullet-dev, g++, pkg-config
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
runs=${2:-5}
side=${3:-100}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# shellcheck disable=SC2046
g++ -O2 -std=c++17 "$here/cloth_bullet.cpp" -o "$out/cloth_bullet" $(pkg-config --cflags --libs bullet) -lBulletSoftBody
# the middle of what FIELD=NUMBER says in a file
median() { sed "s/.* $2=\([0-9.e+-]*\).*/\1/" "$1" | sort -g | sed -n "$(((runs + 1) / 2))p"; }
run=0
while [ $run -lt "$runs" ]; do
  run=$((run + 1))
  "$build/bin/cloth_bench" "$side" 200 1 >> "$out/one"
  "$out/cloth_bullet" "$side" 100 >> "$out/bullet"
  "$build/bin/cloth_bench" "$side" 200 2 >> "$out/two"
  # with two threads the clock counts, so the one that it is compared with is timed by it too
  "$build/bin/cloth_bench" "$side" 200 1 0 8 1 wall >> "$out/wall"
done
tail -n 1 "$out/one"
tail -n 1 "$out/bullet"
awk -v a="$(median "$out/one" ns)" -v b="$(median "$out/bullet" ns)" -v c="$(median "$out/two" ns)" \
  -v w="$(median "$out/wall" ns)" 'BEGIN { printf "median ns a constraint: samebit %.2f, Bullet %.2f, ratio %.2f; two threads %.2f, %.2f times as fast\n", a, b, b / a, c, w / c }'
