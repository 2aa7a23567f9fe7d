#!/bin/sh
# Makes every golden hash anew: remake.sh [--replace] [BUILD [SHARED]]. See golden.sh for what it refuses.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
action=remake
if [ "${1:-}" = --replace ]; then
  action=replace
  shift
fi
build=${1:-$root/build}
cmake --build "$build" --target samebit samebit_core_program > /dev/null
exec sh "$root/tests/golden/golden.sh" $action "$build" ${2:+"$2"}
