#!/bin/sh
# refused.sh BUILD NAME SOLVER CHECK: a run with the faulty module BUILD/mutants/NAME/SOLVER.so must be refused before its first tick, with exit
# code 3 and the name of the check; the sound module beside it must run.
set -eu
build=$1 name=$2 solver=$3 check=$4
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
run() { "$build/bin/samebit" run conf/arms.ini --set solver.arms.plugin="$solver" --ticks 4 --no-cache "$@" 2>&1; }
run > /dev/null || { run; echo "the sound $solver does not run"; exit 1; }
code=0
said=$(run --plugins "$build/mutants/$name") || code=$?
echo "$said"
[ $code = 3 ] || { echo "exit code $code, expected 3"; exit 1; }
echo "$said" | grep -q "micro-scene [a-z]*, check $check:" || { echo "the message does not name the check $check"; exit 1; }
