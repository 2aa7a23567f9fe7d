#!/bin/sh
# attraction.sh BUILD HERE: a solver of particles alone, built with the installed package, passes `plugins check` and is granted CrossPlatform; and what
# happens when its author makes mistakes.
set -eu
build=$1 here=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
fail() { echo "attraction: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/installed" > "$work/log" 2>&1 || { cat "$work/log"; fail "the build does not install"; }
samebit=$work/installed/bin/samebit
export XDG_CACHE_HOME="$work/cache"
cp -r "$here/attraction" "$work/pull"
cd "$work"
make() {
  cmake -G Ninja -S pull -B out "-DCMAKE_PREFIX_PATH=$work/installed" > log 2>&1 && cmake --build out >> log 2>&1 || { cat log; fail "it does not build"; }
  ! grep -q "warning:" log || { cat log; fail "it builds with warnings"; }
}
make
"$samebit" plugins goldens out/pull.so > goldens.h
cmp goldens.h pull/pull_goldens.h || { cat goldens.h; fail "tests/abi/attraction/pull_goldens.h is out of date"; }
"$samebit" plugins check out/pull.so > said || { cat said; fail "plugins check finds faults"; }
"$samebit" run pull/pull.ini --plugins out > said 2>&1 || { cat said; fail "it does not run"; }
grep -q "^mode  *CrossPlatform" said || { cat said; fail "CrossPlatform is not granted"; }
hash=$(sed -n 's/^hash *//p' said)
for options in "--lanes 1" "--lanes 4 --threads 2" "--threads 3 --shuffle 5"; do
  # shellcheck disable=SC2086
  [ "$hash" = "$("$samebit" run pull/pull.ini --plugins out $options | sed -n 's/^hash *//p')" ] || fail "$options gives another hash than $hash"
done

# Without the golden hash the refusal and the case name the scene and the command that prints it.
refused() { # text that the refusal has, case that fails, text of the case
  make
  code=0
  "$samebit" validate pull/pull.ini --plugins out > said 2>&1 || code=$?
  [ $code = 3 ] && grep -q "$1" said || { cat said; fail "exit code $code, \"$1\" expected"; }
  ! "$samebit" plugins check out/pull.so > said || fail "plugins check finds nothing"
  [ "$(grep -c " failed  " said)" = 1 ] && grep -q "^$2 *failed .*$3" said || { cat said; fail "$2 should fail, with \"$3\""; }
}
: > pull/pull_goldens.h
sed -i 's/^#include "pull_goldens.h"/{sizeof(sb_golden), SB_BACKEND_CPU, "fly", 1},/' pull/pull.c
refused "micro-scene beads has no golden hash.*samebit plugins goldens FILE" golden_present "beads.*samebit plugins goldens $work/out/pull.so"
cp "$here"/attraction/pull* pull/
# Without a range, particles at the other end of the world count.
sed -i 's/NULL, 10, 0, 1000}/NULL, 1000, 0, 1000}/' pull/pull.c
refused "check unrelated.*samebit plugins check" unrelated "with unrelated bodies and particles"
echo "attraction: a solver of particles was built out of tree, passed its check, was granted CrossPlatform"
