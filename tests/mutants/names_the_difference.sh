#!/bin/sh
# names_the_difference.sh WORK BUILD PROGRAM: a core program with a fused operation as a leg of `samebit determinism`, which must say where it parts.
set -eu
work=$1/named build=$2 program=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work/fused"
printf '#!/bin/sh\nexec %s "$@" --lanes 1\n' "$program" > "$work/fused/run"
chmod +x "$work/fused/run"
cd "$root"
code=0
"$build/bin/samebit" determinism conf/humanoid.ini --ticks 20 --cores "$work" > "$work/said" 2>&1 || code=$?
cat "$work/said"
[ $code = 1 ] || { echo "exit code $code, expected 1"; exit 1; }
grep -q 'fused: error \[SB-HASH-DIFFER\] tick [0-9]*, stage state, solver [a-z]*: state\.[a-z_]*\[[0-9]*\] component [0-9]*, body [0-9]* ".*", is [0-9a-f]* (.*), lanes-1 has [0-9a-f]* (' "$work/said" || {
  echo "the message does not name tick, stage, solver, array, body and both values"
  exit 1
}
