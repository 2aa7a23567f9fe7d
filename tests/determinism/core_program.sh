#!/bin/sh
# core_program.sh BUILD: what samebit_core says to wrong use, and that its options do what they say.
set -u
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
core=$build/bin/samebit_core

# refuses CODE TEXT argument...
refuses() {
  code=$1 text=$2
  shift 2
  "$core" "$@" > "$work/out" 2>&1
  got=$?
  [ $got = "$code" ] && grep -q -e "$text" "$work/out" && return
  echo "samebit_core $*: exit code $got, expected $code, and \"$text\" in:"
  cat "$work/out"
  failures=$((failures + 1))
}

"$build/bin/samebit" cook generator:arms --param count=2 --out "$work/arms.sbm" > /dev/null || exit 1
printf 'no model' > "$work/bad.sbm"
head -c 400 "$work/arms.sbm" > "$work/short.sbm"
: > "$work/empty.sbm"
refuses 2 "a model and --solver ID, or --setup FILE, are needed"
refuses 2 "unknown option --tick" "$work/arms.sbm" --solver featherstone --tick 3
refuses 2 "there are: .*featherstone.* semi_implicit" "$work/arms.sbm" --solver nothing
refuses 2 "cannot be read" "$work/none.sbm" --solver featherstone
for file in bad short empty; do refuses 2 "error SB-COOKED" "$work/$file.sbm" --solver featherstone; done
refuses 2 "is not one it takes" "$work/arms.sbm" --solver featherstone --lanes 3
refuses 2 "is not one it takes" "$work/arms.sbm" --solver featherstone --dt 0.01
refuses 2 "is not one it takes" "$work/arms.sbm" --solver featherstone --dt 1/0
refuses 2 "that is missing" "$work/arms.sbm" --solver featherstone --ticks
refuses 2 "one model is expected" "$work/arms.sbm" "$work/arms.sbm" --solver featherstone
refuses 2 "expected NAME=VALUE" "$work/arms.sbm" --solver featherstone --param substeps=0
refuses 2 "expected NAME=VALUE" "$work/arms.sbm" --solver featherstone --param nothing=1
refuses 0 "hash " "$work/arms.sbm" --solver featherstone --ticks 3 --param substeps=2 --dt 1/60

# A setup runs as the session did that wrote it; one that lacks a line, or has another number, is refused.
cd "$(dirname "$0")/../.." || exit 1
"$build/bin/samebit" determinism conf/pile.ini --ticks 5 --legs lanes-1 --keep "$work/kept" > /dev/null 2>&1
hash=$("$build/bin/samebit" run conf/pile.ini --ticks 5 | sed -n 's/^hash *//p')
refuses 0 "hash $hash" --setup "$work/kept/run.setup" --ticks 5 --threads 2 --hostile-fp
lines=$(wc -l < "$work/kept/run.setup")
for n in $(seq 1 "$lines"); do
  sed "${n}d" "$work/kept/run.setup" > "$work/kept/less.setup"
  refuses 2 "error SB-" --setup "$work/kept/less.setup" --ticks 1
  sed "${n}s/[0-9][0-9]*\$/99999999999999999999999/" "$work/kept/run.setup" > "$work/kept/huge.setup"
  cmp -s "$work/kept/run.setup" "$work/kept/huge.setup" || refuses 2 "error SB-" --setup "$work/kept/huge.setup" --ticks 1
done
refuses 2 "cannot be read" --setup "$work/none.setup"

# Final hash, hashes on the way, worlds and bodies.
"$core" "$work/arms.sbm" --solver featherstone --ticks 20 --hash-every 10 --worlds 3 --world-hashes --body-hashes 2 > "$work/out" || failures=$((failures + 1))
[ "$(grep -c '^tick' "$work/out") $(grep -c '^world' "$work/out") $(grep -c '^body' "$work/out") $(grep -c '^hash' "$work/out")" = "2 3 2 1" ] || {
  echo "samebit_core printed:"
  cat "$work/out"
  failures=$((failures + 1))
}
[ "$(sed -n 's/^tick 20 //p' "$work/out")" = "$(sed -n 's/^hash //p' "$work/out")" ] || failures=$((failures + 1))
[ $failures = 0 ]
