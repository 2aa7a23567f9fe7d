#!/bin/sh
# The speed table: steel and featherstone against Bullet and MuJoCo of Debian, side by side, interleaved, medians.
#   tests/peers/table.sh PEERS_DIR [BUILD_DIR [RUNS]]    PEERS_DIR holds the peers' drivers' sources; needs libbullet-dev, libmujoco-dev, g++, pkg-config
# A row is one scene: both times, their spread (largest over smallest), their ratio, and what both did to the scene: overlap and energy at the
# end, how far anything moved; for arms the energy error; for humanoids the deepest contact of all steps.
set -e
peers=$1
build=${2:-build}
runs=${3:-5}
for source in bullet_bench.cpp mujoco_bench.cpp common.h; do
  [ -f "$peers/$source" ] || { echo "usage: $0 PEERS_DIR [BUILD_DIR [RUNS]]: no $peers/$source" >&2; exit 2; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cmake --build "$build" --target boxes_bench arms_bench humanoids_bench > /dev/null
# shellcheck disable=SC2046
(cd "$peers" && g++ -O2 -std=c++17 bullet_bench.cpp -o "$out/bullet_bench" $(pkg-config --cflags --libs bullet) &&
  g++ -O2 -std=c++17 mujoco_bench.cpp -o "$out/mujoco_bench" -lmujoco -lpthread)

# field FILE NAME: the values of NAME=number, sorted
field() { sed -n "s/.*[ (]$2=\([0-9.e+-]*\).*/\1/p" "$1" | sort -g; }
median() { field "$1" "$2" | sed -n "$(((runs + 1) / 2))p"; }
spread() { field "$1" "$2" | awk 'NR == 1 { low = $1 } { high = $1 } END { printf "%.2f", high / low }'; }

# interleave NAME "OURS" "THEIRS"
interleave() {
  run=0
  while [ $run -lt "$runs" ]; do
    run=$((run + 1))
    $2 >> "$out/$1.ours"
    $3 >> "$out/$1.theirs"
  done
}

boxes_row() {
  interleave "$1" "$build/bin/boxes_bench $1" "$out/bullet_bench scene=$1"
  ours=$out/$1.ours
  theirs=$out/$1.theirs
  awk -v s="$1" -v a="$(median "$ours" ms)" -v b="$(median "$theirs" ms)" -v sa="$(spread "$ours" ms)" -v sb="$(spread "$theirs" ms)" \
    -v pa="$(median "$ours" maxpen_mm)" -v pb="$(median "$theirs" maxpen_mm)" -v ka="$(median "$ours" KE)" -v kb="$(median "$theirs" KE)" \
    -v da="$(median "$ours" maxdisp)" -v db="$(median "$theirs" maxdisp)" -v m="$(median "$ours" median)" -v w="$(median "$ours" worst_after_first)" \
    'BEGIN { printf "| %s, ms a frame | %.3g (%s) | Bullet %.3g (%s) | %.2f | %.1f mm, %.3g J, moved %.2f m; worst frame %.1f medians | %.1f mm, %.3g J, moved %.2f m |\n",
             s, a, sa, b, sb, a / b, pa, ka, da, w / m, pb, kb, db }'
}

# two threads of ours against one, same hash
threads_row() {
  interleave "$1-threads" "$build/bin/boxes_bench $1 300 1" "$build/bin/boxes_bench $1 300 2"
  one=$out/$1-threads.ours
  two=$out/$1-threads.theirs
  same=$(sed 's/.*hash=\([0-9a-f]*\).*/\1/' "$one" "$two" | sort -u | wc -l)
  awk -v s="$1" -v a="$(median "$one" ms)" -v b="$(median "$two" ms)" -v sa="$(spread "$one" ms)" -v sb="$(spread "$two" ms)" -v same="$same" \
    'BEGIN { printf "| %s, 300 frames | one thread %.3g (%s) | two threads %.3g (%s) | %.2f times as fast | %s | |\n", s, a, sa, b, sb, a / b,
             same == 1 ? "one hash" : "HASHES DIFFER" }'
}

# the same scene with islands that sleep
sleep_row() {
  interleave "$1-sleep" "$build/bin/boxes_bench $1 600 1" "$build/bin/boxes_bench $1 600 1 sleep_ticks=30"
  awk -v s="$1" -v a="$(median "$out/$1-sleep.ours" ms)" -v b="$(median "$out/$1-sleep.theirs" ms)" -v m="$(median "$out/$1-sleep.theirs" median)" \
    'BEGIN { printf "| %s, 600 frames | awake %.3g | sleep_ticks = 30: %.3g, median frame %.3g | %.2f times as fast | | |\n", s, a, b, m, a / b }'
}

arms_row() {
  interleave S4 "$build/bin/arms_bench hang 1000 1 $1 1" "$out/mujoco_bench scene=S4 pose=hang"
  ours=$out/S4.ours
  theirs=$out/S4.theirs
  awk -v n="$1" -v a="$(median "$ours" armsteps_per_s)" -v b="$(median "$theirs" armsteps_per_s)" -v sa="$(spread "$ours" armsteps_per_s)" \
    -v sb="$(spread "$theirs" armsteps_per_s)" -v ea="$(median "$ours" Edrift_max)" -v eb="$(median "$theirs" Edrift_max)" \
    'BEGIN { printf "| S4 %s, arm-steps a second | %.3g (%s) | MuJoCo %.3g (%s) | %.2f | energy error %s %% | energy error %s %% |\n", n, a, sa, b, sb, a / b, ea, eb }'
  rm -f "$ours" "$theirs"
}

# arms that whip: where MuJoCo's Euler resets; ours against ours on the hanging scene
bent_row() {
  interleave bent "$build/bin/arms_bench bent 1000 1 steel 4" "$build/bin/arms_bench hang 1000 1 steel 1"
  awk -v a="$(median "$out/bent.ours" armsteps_per_s)" -v b="$(median "$out/bent.theirs" armsteps_per_s)" -v e="$(median "$out/bent.ours" Edrift_max)" \
    -v g="$(median "$out/bent.ours" Egain_max)" \
    'BEGIN { printf "| S4 steel, bent, 4 substeps | %.3g | steel, hang, 1 substep %.3g | %.2f times the cost | all finite; energy error %s %%, never above its start by more than %s %% | |\n", a, b, b / a, e, g }'
}

# humanoids, 256 copies
humanoids_row() {
  xml=$peers/../models/mujoco/humanoid.xml
  [ -f "$xml" ] || return 0
  interleave S5 "$build/bin/humanoids_bench $xml 1000" "$out/mujoco_bench scene=S5 envs=256 steps=500 xml=$xml" 2> /dev/null
  awk -v a="$(median "$out/S5.ours" envsteps_per_s)" -v b="$(median "$out/S5.theirs" envsteps_per_s)" -v sa="$(spread "$out/S5.ours" envsteps_per_s)" \
    -v sb="$(spread "$out/S5.theirs" envsteps_per_s)" -v p="$(median "$out/S5.ours" deepest_mm)" \
    'BEGIN { printf "| S5, humanoid steps a second | %.3g (%s) | MuJoCo %.3g (%s) | %.2f | deepest contact %.1f mm | |\n", a, sa, b, sb, a / b, p }'
}

run_rows() {
  for scene in S1 S2 S3 S3R; do boxes_row $scene; done
  threads_row S3R
  sleep_row S3
  for solver in featherstone steel; do arms_row $solver; done
  bent_row
  humanoids_row
}

echo "Medians of $runs interleaved runs, one core unless said; spread in brackets, largest over smallest. $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo
echo "| scene | samebit | peer | ratio | samebit's scene at the end | the peer's |"
echo "| --- | --- | --- | --- | --- | --- |"
run_rows
echo
echo "The same scenes from their INI files:"
"$build/bin/samebit" bench "$(dirname "$0")"/../../conf/bench/*.ini --ticks 100 --repeats 3
