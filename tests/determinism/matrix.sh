#!/bin/sh
# The matrix: the same hashes from every compiler, optimisation level, architecture, thread count, lane width and task order.
#
#   matrix.sh WORK BUILD SHARED LEG...
#
# BUILD holds bin/samebit, which cooks the scenes of tests/golden/scenes.txt; SHARED is the folder of shared models. Each LEG
# builds the core program (not the layers above it) into WORK/LEG and compares it with tests/golden/run_hashes.txt
# (build_core.sh lists the legs).
# A leg whose compiler or emulator is not installed is reported as skipped; exit 77 when every leg was skipped.
set -eu
export LC_ALL=C
work=$1 build=$2 shared=$3
shift 3
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work/scenes"
work=$(cd "$work" && pwd)
failures=0
compared=0
ran=0

say() { echo "matrix: $*"; }

# Cooks the scenes and lists those that can be used: name and ticks.
cook_scenes() {
  : > "$work/list"
  grep -v '^#' "$root/tests/golden/scenes.txt" | while read -r name ticks scene options; do
    case $scene in
    SHARED/*) scene=$shared/${scene#SHARED/} ;;
    generator:*) ;;
    *) scene=$root/$scene ;;
    esac
    case $scene in generator:*) ;; *) [ -f "$scene" ] || { say "$name skipped: the shared models are not here"; continue; } ;; esac
    # shellcheck disable=SC2086
    "$build/bin/samebit" cook "$scene" $options --out "$work/scenes/$name.sbm" > /dev/null 2>&1 || { say "$name does not cook"; exit 1; }
    echo "$name $ticks" >> "$work/list"
  done
}

# Builds the core program of a leg; sets $core to the command that runs it and $checks to the determinism checks.
build_leg() {
  leg=$1
  code=0
  sh "$root/tests/determinism/build_core.sh" "$work" "$leg" > "$work/$leg.said" 2>&1 || code=$?
  [ $code = 0 ] || cat "$work/$leg.said"
  [ $code != 77 ] || return 77
  [ $code = 0 ] || exit 1
  core=$work/$leg/run
  checks=$work/$leg/checks
  # An emulator is 20 to 40 times as slow.
  case $leg in
  gcc-*|clang-*) emulated= short=60 skip= ;;
  *) emulated=yes short=8 skip="--skip worlds,threads" ;; # compare and compare_worlds show those; 16 emulated threads take minutes
  esac
}

# One run against the golden line: compare LEG SCENE SOLVER TICKS option...
compare() {
  leg=$1 scene=$2 solver=$3 ticks=$4
  shift 4
  want=$(sed -n "s/^$scene $solver $ticks //p" "$root/tests/golden/run_hashes.txt")
  got=$($core "$work/scenes/$scene.sbm" --solver "$solver" --ticks "$ticks" "$@" | sed -n 's/^hash //p')
  compared=$((compared + 1))
  [ "$want" = "$got" ] && [ -n "$got" ] && return
  say "$leg, $scene under $solver $*: ${got:-no hash}, expected ${want:-a line in run_hashes.txt}"
  failures=$((failures + 1))
}

# Among 64 worlds, alone, and at another index: the hash of the world with key 37.
compare_worlds() {
  leg=$1 scene=$2 solver=$3
  alone=$($core "$work/scenes/$scene.sbm" --solver "$solver" --ticks $((short / 4)) --first-world 37 --world-hashes | sed -n 's/^world 37 //p')
  many=$($core "$work/scenes/$scene.sbm" --solver "$solver" --ticks $((short / 4)) --worlds 64 --threads 2 --world-hashes | sed -n 's/^world 37 //p')
  later=$($core "$work/scenes/$scene.sbm" --solver "$solver" --ticks $((short / 4)) --first-world 30 --worlds 9 --shuffle 4 --world-hashes | sed -n 's/^world 37 //p')
  compared=$((compared + 2))
  [ -n "$alone" ] && [ "$alone" = "$many" ] && [ "$alone" = "$later" ] && return
  say "$leg, $scene under $solver: world 37 is $alone alone, $many among 64, $later among 9"
  failures=$((failures + 1))
}

# Snapshots cross over: this leg and the native build write the same bytes, and each goes on from the other's.
exchange_snapshots() {
  leg=$1 scene=$2 solver=$3
  native=$build/bin/samebit_core
  for side in native core; do
    [ $side = native ] && program=$native || program=$core
    $program "$work/scenes/$scene.sbm" --solver "$solver" --ticks 6 --snapshots "$work/scenes/$side" > "$work/scenes/$side.said"
  done
  want=$(sed -n 's/^hash //p' "$work/scenes/native.said")
  here=$($core "$work/scenes/$scene.sbm" --solver "$solver" --ticks 6 --restore "$work/scenes/native.3" | sed -n 's/^hash //p')
  there=$($native "$work/scenes/$scene.sbm" --solver "$solver" --ticks 6 --restore "$work/scenes/core.3" | sed -n 's/^hash //p')
  compared=$((compared + 2))
  [ -n "$want" ] && [ "$want" = "$here" ] && [ "$want" = "$there" ] && cmp -s "$work/scenes/native.3" "$work/scenes/core.3" && return
  say "$leg, $scene under $solver: a snapshot of the native build leads to $here, one of this leg to $there, expected $want; or their bytes differ"
  failures=$((failures + 1))
}

cook_scenes
for leg; do
  build_leg "$leg" || continue
  ran=$((ran + 1))
  while read -r scene ticks; do
    for solver in $(sed -n "s/^$scene \([a-z0-9_]*\) $ticks .*/\1/p" "$root/tests/golden/run_hashes.txt"); do
      for lanes in 1 4 8; do
        [ $lanes = 4 ] && [ -n "$emulated" ] && continue # below, with the shuffled tasks
        [ $lanes = 8 ] && [ -z "$emulated" ] && ! grep -q avx2 /proc/cpuinfo && continue
        compare "$leg" "$scene" "$solver" "$ticks" --lanes $lanes --threads 1
      done
      compare "$leg" "$scene" "$solver" "$ticks" --threads 2 --shuffle 11 ${emulated:+--lanes 4}
      if [ -z "$emulated" ]; then
        compare "$leg" "$scene" "$solver" "$ticks" --lanes 4 --threads 2
        compare "$leg" "$scene" "$solver" "$ticks" --threads 1 --shuffle 12 --broad-phase all_pairs
      fi
      compare_worlds "$leg" "$scene" "$solver"
      [ -z "$emulated" ] || exchange_snapshots "$leg" "$scene" "$solver"
    done
  done < "$work/list"
  # shellcheck disable=SC2086
  if ! $checks --ticks $short $skip > "$work/$leg.checks"; then
    cat "$work/$leg.checks"
    say "$leg: determinism_checks failed"
    failures=$((failures + 1))
  fi
  say "$leg done"
done
say "$ran legs, $compared hashes compared, $failures failures"
[ $failures = 0 ] || exit 1
[ $ran != 0 ] || exit 77
[ $compared != 0 ] || { say "no hash was compared"; exit 1; }
