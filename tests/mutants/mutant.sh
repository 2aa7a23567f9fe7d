#!/bin/sh
# mutant.sh WORK NAME CHECK: builds the core with the fault NAME and demands that CHECK of determinism_checks fails.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cmake -G Ninja -S "$root" -B "$1" -DSAMEBIT_CORE_ONLY=ON -DSAMEBIT_MUTANT="$2" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG" > "$1.log" 2>&1 &&
  cmake --build "$1" --target determinism_checks -j 2 >> "$1.log" 2>&1 || {
  tail -20 "$1.log"
  exit 1
}
"$1/bin/determinism_checks" --fails "$3"
