#!/bin/sh
# `samebit determinism` over every leg that this machine offers: command.sh WORK BUILD TICKS LEAST INI... -- LEG...
# Builds the core programs of the legs into WORK (those that matrix.sh has made are used again), then demands for each INI that all
# legs agree and that at least LEAST of them ran.
set -eu
work=$1 build=$2 ticks=$3 least=$4
shift 4
root=$(cd "$(dirname "$0")/../.." && pwd)
inis=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  inis="$inis $1"
  shift
done
shift
for leg; do
  code=0
  sh "$root/tests/determinism/build_core.sh" "$work" "$leg" || code=$?
  [ $code = 0 ] || [ $code = 77 ] || exit 1
done
cd "$root"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for ini in $inis; do
  code=0
  "$build/bin/samebit" determinism "$ini" --ticks "$ticks" --cores "$work" > "$out/said" 2> "$out/complained" || code=$?
  summary=$(tail -1 "$out/said")
  ran=$(echo "$summary" | sed -n 's/.* ticks: \([0-9]*\) the same.*/\1/p')
  if [ $code != 0 ] || [ "${ran:-0}" -lt "$least" ]; then
    cat "$out/said" "$out/complained"
    echo "$ini: ${ran:-0} legs agree, $least are needed (exit code $code)"
    exit 1
  fi
  echo "$ini: $(sed -n 's/^lanes-1 *same *\([0-9a-f]*\) .*/\1/p' "$out/said"), $summary"
done
