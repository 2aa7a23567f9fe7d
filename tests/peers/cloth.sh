#!/bin/sh
# Nanoseconds for each distance constraint of xpbd and of Bullet's soft bodies on one cloth: interleaved runs, medians, ratio; then xpbd on two threads, and
# semi_implicit at the substeps that it asks for.
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
# its own estimate of the stable step
substeps=$("$build/bin/cloth_bench" "$side" 0 1 0 1 1 own semi_implicit 2>&1 | sed -n 's/.*set substeps = \([0-9]*\).*/\1/p')
run=0
while [ $run -lt "$runs" ]; do
  run=$((run + 1))
  "$build/bin/cloth_bench" "$side" 200 1 >> "$out/one"
  "$out/cloth_bullet" "$side" 100 >> "$out/bullet"
  "$build/bin/cloth_bench" "$side" 200 2 >> "$out/two"
  "$build/bin/cloth_bench" "$side" 40 1 0 "${substeps:-1}" 1 own semi_implicit >> "$out/semi"
  # with two threads the clock counts, so the one that it is compared with is timed by it too
  "$build/bin/cloth_bench" "$side" 200 1 0 8 1 wall >> "$out/wall"
done
tail -n 1 "$out/one"
tail -n 1 "$out/bullet"
tail -n 1 "$out/semi"
awk -v a="$(median "$out/one" ns)" -v b="$(median "$out/bullet" ns)" -v c="$(median "$out/two" ns)" \
  -v w="$(median "$out/wall" ns)" -v m="$(median "$out/one" median_ms)" -v n="$(median "$out/semi" median_ms)" -v e="$(median "$out/semi" ns)" -v k="${substeps:-1}" 'BEGIN { printf "median ns a constraint: samebit %.2f, Bullet %.2f, ratio %.2f; two threads %.2f, %.2f times as fast\n", a, b, b / a, c, w / c
    printf "a tick of xpbd %.2f ms, of semi_implicit with the %s substeps that it asks for %.1f ms, %.1f times as long; ns a spring of semi_implicit %.2f\n", m, k, n, n / m, e }'
