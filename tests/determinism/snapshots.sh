#!/bin/sh
# snapshots.sh BUILD [SHARED]: a snapshot after each of 50 ticks, put back by another process, leads to the same end, under every solver.
# Every other restore turns what must not matter: threads, lanes, task order, broad phase.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd) ticks=50
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
core=$build/bin/samebit_core
failures=0 restored=0

check() { # NAME SOLVER
  substeps=8
  [ "$1 $2" != "cloth semi_implicit" ] || substeps=80 # its springs are stiff
  want=$("$core" "$work/$1.sbm" --solver "$2" --param substeps=$substeps --ticks $ticks --snapshots "$work/snap" | sed -n 's/^hash //p')
  [ -n "$want" ] || { echo "$1 under $2 does not run"; failures=$((failures + 1)); return; }
  for tick in $(seq 1 $ticks); do
    options=
    [ $((tick % 2)) = 0 ] || options="--lanes 1 --threads 2 --shuffle $tick --broad-phase all_pairs"
    # shellcheck disable=SC2086
    got=$("$core" "$work/$1.sbm" --solver "$2" --param substeps=$substeps --ticks $ticks --restore "$work/snap.$tick" $options | sed -n 's/^hash //p')
    restored=$((restored + 1))
    [ "$got" = "$want" ] && continue
    echo "$1 under $2, restored after tick $tick: ${got:-no hash}, expected $want"
    failures=$((failures + 1))
  done
}

cook() { name=$1; shift; "$build/bin/samebit" cook "$@" --out "$work/$name.sbm" > /dev/null 2>&1 || { echo "$name does not cook"; exit 1; }; }
cd "$root"
cook biped conf/models/biped.xml
cook pile generator:pile --param count=24 --param side=3 --param extent=1
cook linkage conf/models/linkage.xml --keyframe driven
cook cloth generator:cloth --param columns=8 --param rows=8
for solver in $("$core" --solvers); do
  scenes=biped
  [ "$solver" = featherstone ] || scenes="$scenes pile"
  case $solver in
  steel) scenes="$scenes linkage" ;;
  xpbd|semi_implicit) scenes="$scenes cloth" ;;
  esac
  for scene in $scenes; do check "$scene" "$solver"; done
done
# A file that is no snapshot, or one of another scene or solver, is refused.
for file in "$work/pile.sbm" "$work/snap.3"; do
  code=0
  "$core" "$work/biped.sbm" --solver featherstone --ticks 4 --restore "$file" > "$work/said" 2>&1 || code=$?
  [ $code = 1 ] && grep -q "error SB-" "$work/said" || { echo "$file was not refused (exit code $code)"; failures=$((failures + 1)); }
done
echo "$restored snapshots restored, $failures failures"
[ $failures = 0 ] && [ $restored -ge 200 ]
