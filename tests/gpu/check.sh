#!/bin/sh
# What this machine's first Vulkan device computes, against the CPU, bit for bit. check.sh [ELEMENTS [STRIDE]] in a folder that prepare.sh
# has made; set VK_DRIVER_FILES where the loader does not find the driver.
#   the probe, and the faults that it has to see
#   prefix sums and sorts; contacts of the collision pipeline, whole lists
#   each step of the shader path left out: what of it shows on this device
#   every parity test: each kernel's shader against scalar C, 4 and 8 lanes, over ELEMENTS elements
#   scenes of scenes.txt on this machine's CPU and on the device, every tick's hash
#   piles of boxes under steel: collision, colours and solver on the device, against the CPU for some of the ticks, and how long each takes
#   speed of that pile and of a large cloth, with the solver's shaders of the project and with ones that keep no rule
#   every float through the shared routines, all roots and quotients of every divisor significand among them (each STRIDE-th; 1 for all)
set -u
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" # libcmocka lies here
elements=${1:-262144}
stride=${2:-1}
rm -f "$here/scenes.failed"
passed=0
failed=0
counted() {
  echo "== $(basename "$1")"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
counted "$here/probe_report"
counted "$here/test_device_probe"
counted "$here/test_device_sort"
counted "$here/test_device_collision"
counted "$here/shader_steps" --load "$here/spv/shader_steps"
for test in "$here"/parity_*; do
  name=$(basename "$test")
  if [ "$name" = parity_mutants ]; then
    # planted faults; a device may happen to be right about some of them, so they are shown, not counted
    "$test" --differ --elements "$elements" --load "$here/spv/$name" | sed 's/^/  mutants: /'
    continue
  fi
  counted "$test" --elements "$elements" --load "$here/spv/$name"
done
grep -v '^#' "$here/scenes.txt" | while read -r name ticks ini settings; do
  "$here/gpu_run" scene "$name" "$here/scenes/$name/run.setup" "$ticks" "$here/xpbd.so" "$here/steel.so" "$here/semi_implicit.so" || echo "$name" >>"$here/scenes.failed"
done
[ ! -e "$here/scenes.failed" ] && passed=$((passed + 1)) || failed=$((failed + 1))
counted "$here/gpu_run" pile 4000 600 600 "$here/steel.so"
counted "$here/gpu_run" pile "${BOXES:-100000}" 600 100 "$here/steel.so"
for module in steel_raw steel steel_raw; do
  echo "$module: $("$here/gpu_run" pile "${BOXES:-100000}" 600 0 "$here/$module.so")"
done
for module in xpbd xpbd_raw xpbd xpbd_raw; do
  echo "$module: $("$here/gpu_run" cloth "${SIDE:-1000}" 60 "$here/$module.so")"
done
counted "$here/device_sweep" --stride "$stride"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
