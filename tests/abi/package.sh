#!/bin/sh
# package.sh BUILD HERE: installs into a temporary folder, builds a solver out of tree with find_package and one with pkg-config, and
# asks the installed program for both and for its own.
set -eu
build=$1 here=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

fail() { echo "package: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/install" > "$work/log" 2>&1 || { cat "$work/log"; fail "the build does not install"; }
for file in bin/samebit include/samebit/samebit.h include/samebit/kernel.h lib/cmake/samebit/samebit-config.cmake \
  lib/cmake/samebit/samebit_plugin.cmake lib/cmake/samebit/samebit_shader.cmake bin/samebit_shader_build share/samebit/shaders/prelude.glsl lib/pkgconfig/samebit.pc lib/samebit/plugins/featherstone.so lib/samebit/plugins/semi_implicit.so \
  share/doc/samebit/README.md share/doc/samebit/docs/plugins.md share/doc/samebit/docs/modes.md share/doc/samebit/conf/humanoid.ini; do
  [ -f "$work/install/$file" ] || fail "$file is not installed"
done
# A moved installation must work too.
mv "$work/install" "$work/moved"
prefix=$work/moved

cp -r "$here/out_of_tree" "$work/source"
cmake -G Ninja -S "$work/source" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" > "$work/log" 2>&1 && cmake --build "$work/cmake" >> "$work/log" 2>&1 || {
  cat "$work/log"
  fail "the out-of-tree build with find_package fails"
}
"$work/cmake/drift_shader" || fail "the shader out of tree has no words"
"$prefix/bin/samebit" shader check "$work/source/drift.comp" --define STEP=0.25 > "$work/shown" 2>&1 || { cat "$work/shown"; fail "the shader does not pass"; }
mkdir "$work/plugins"
cp "$work/cmake/drift_cmake.so" "$work/plugins/"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
flags=$(pkg-config --cflags samebit)
case $flags in *-ffp-contract=off*) ;; *) fail "pkg-config gives \"$flags\", without -ffp-contract=off" ;; esac
cc=${CC:-cc}
for lanes in 1 4 8; do
  # shellcheck disable=SC2086
  $cc -std=c17 -O2 -fPIC -fvisibility=hidden $flags -DSB_LANES=$lanes -c "$work/source/drift_lanes.c" -o "$work/lanes$lanes.o"
done
# shellcheck disable=SC2086
$cc -std=c17 -O2 -fPIC -fvisibility=hidden -shared $flags -DDRIFT_ID='"drift_pkgconfig"' "$work/source/drift.c" "$work"/lanes?.o -o "$work/plugins/drift_pkgconfig.so"

for id in drift_cmake drift_pkgconfig; do
  "$prefix/bin/samebit" plugins show $id --plugins "$work/plugins" > "$work/shown" 2>&1 || { cat "$work/shown"; fail "plugins show $id fails"; }
  grep -q "^$id 0.0.1 by A third party" "$work/shown" || { cat "$work/shown"; fail "plugins show $id does not describe it"; }
done
cat > "$work/drop.ini" <<END
[world]
scene = generator:drop
[determinism]
mode = Off
[solver.thing]
plugin = drift_cmake
bodies = *
END
"$prefix/bin/samebit" run "$work/drop.ini" --ticks 10 --plugins "$work/plugins" > "$work/shown" 2>&1 || { cat "$work/shown"; fail "a run with drift_cmake fails"; }
# Its own plugins, found from where the program lies.
"$prefix/bin/samebit" plugins show featherstone | grep -q "$prefix/lib/samebit/plugins/featherstone.so" || fail "the installed featherstone is not found"
echo "package: installed, moved, two solvers and a shader built out of tree and shown"
