#!/bin/sh
# template.sh BUILD: installs, writes a solver with `plugins new`, builds it out of tree, runs its own tests, and runs it as its README says.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
fail() { echo "template: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/installed here" > "$work/log" 2>&1 || { cat "$work/log"; fail "the build does not install"; }
samebit="$work/installed here/bin/samebit"
export XDG_CACHE_HOME="$work/cache"
cd "$work"
"$samebit" plugins new falling > said 2>&1 || { cat said; fail "plugins new fails"; }
grep -r '@NAME@\|my_solver' falling && fail "a placeholder is left"
cmake -G Ninja -S falling -B out "-DCMAKE_PREFIX_PATH=$work/installed here" > log 2>&1 && cmake --build out >> log 2>&1 || { cat log; fail "it does not build"; }
grep -q "warning:" log && { cat log; fail "it builds with warnings"; }
"$samebit" plugins goldens out/falling.so > goldens.h || fail "plugins goldens fails"
cmp goldens.h falling/falling_goldens.h || { diff goldens.h falling/falling_goldens.h; fail "plugin_api/template/NAME_goldens.h.in is out of date"; }
"$samebit" plugins goldens out/falling.so > goldens.h
ctest --test-dir out --output-on-failure > log 2>&1 || { cat log; fail "its own tests fail"; }
"$samebit" run falling/falling.ini --ticks 20 --plugins out > said 2>&1 || { cat said; fail "it does not run"; }
grep -q "^mode  *CrossPlatform" said || { cat said; fail "CrossPlatform is not granted"; }
# What cannot be done says so and loses nothing.
refused() { # text, arguments
  text=$1
  shift
  code=0
  "$samebit" "$@" > said 2>&1 || code=$?
  [ $code = 2 ] && grep -q "$text" said || { cat said; fail "$*: exit code $code, \"$text\" expected"; }
}
refused "is not empty" plugins new falling
refused "is no plugin name" plugins new Falling
refused "is no plugin name" plugins new ../evil
refused "cannot be made" plugins new other --dir /nowhere/at/all
refused "SB-" plugins goldens falling/falling.ini
cmp goldens.h falling/falling_goldens.h || fail "a refused call changed a file"
echo "template: written, built out of tree, tested, granted CrossPlatform"
