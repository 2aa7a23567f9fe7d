#!/bin/sh
# Gathers what the GPU check needs into a folder that can be carried to a machine with a GPU, a Vulkan driver and loader, and nothing
# else: prepare.sh FOLDER [BUILD]. Then, there: FOLDER/check.sh. BUILD is a Release build with tests.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
build=${2:-$root/build}
mkdir -p "$folder/spv"
for test in "$build"/bin/parity_* "$build"/bin/shader_steps; do
  name=$(basename "$test")
  mkdir -p "$folder/spv/$name"
  options=""
  [ "$name" = parity_mutants ] && options="--differ"
  "$test" $options --save "$folder/spv/$name" >"$folder/spv/$name.log" || { cat "$folder/spv/$name.log"; exit 1; }
  strip -o "$folder/$name" "$test"
done
# These have their shaders inside.
for test in probe_report test_device_probe test_device_sort test_device_collision device_sweep; do
  strip -o "$folder/$test" "$build/bin/$test"
done
# Whole simulations: each scene's model and setup, the runner, the solvers, and two of them with shaders that keep no rule.
cmake --build "$build" --target xpbd_raw steel_raw >/dev/null
strip -o "$folder/gpu_run" "$build/bin/gpu_run"
cp "$build/plugins/xpbd.so" "$build/plugins/steel.so" "$build/plugins/semi_implicit.so" "$build/gpu/xpbd_raw.so" "$build/gpu/steel_raw.so" "$root/tests/gpu/scenes.txt" "$folder/"
grep -v '^#' "$root/tests/gpu/scenes.txt" | while read -r name ticks ini settings; do
  mkdir -p "$folder/scenes/$name"
  # shellcheck disable=SC2086
  "$build/bin/samebit" determinism "$root/$ini" $settings --ticks 1 --legs lanes-4 --keep "$folder/scenes/$name" >"$folder/scenes/$name.log" 2>&1 ||
    { cat "$folder/scenes/$name.log"; exit 1; }
done
cp "$(ldd "$build/bin/test_device_probe" | awk '/libcmocka/ { print $3 }')" "$root/tests/gpu/check.sh" "$folder/"
echo "prepared $(ls "$folder/spv" | grep -vc log) tests with shaders of their own in $folder"
