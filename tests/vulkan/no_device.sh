#!/bin/sh
# no_device.sh COMMAND CONF TEST...: where no Vulkan driver is installed, what asks for a device gets one clear error and exit code 2, the determinism
# matrix leaves its leg out and says why, the test programs skip, and what runs on the CPU does not notice.
command=$1 conf=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent VK_ADD_DRIVER_FILES= VK_LOADER_DEBUG=
failed=0

# expect CODE WORDS ARGUMENTS...
expect()
{
  code=$1 words=$2
  shift 2
  "$command" "$@" >"$folder/out" 2>&1
  got=$?
  if [ $got -ne "$code" ] || ! grep -q -- "$words" "$folder/out"; then
    echo "samebit $*: exit $got, expected $code and \"$words\":"
    cat "$folder/out"
    failed=1
  fi
}

expect 2 "SB-VULKAN-DEVICE.*the loader found none.*use backend = cpu" run "$conf/cloth.ini" --ticks 2 --backend vulkan
[ "$(grep -c "error \[" "$folder/out")" -eq 1 ] || { echo "more than one error"; failed=1; }
expect 2 "SB-VULKAN-DEVICE" validate "$conf/cloth.ini" --backend vulkan
expect 2 "SB-VULKAN-DEVICE" run "$conf/cloth.ini" --ticks 2 --backend vulkan --json
expect 2 "SB-VULKAN-DEVICE" run "$conf/chain.ini" --ticks 2 --backend vulkan --set determinism.mode=Off
expect 2 "SB-VULKAN-DEVICE" bench "$conf/rope.ini" --ticks 2 --repeats 1 --set solver.rope.backend=vulkan
expect 3 "use \"backend = cpu\" in" run "$conf/chain.ini" --ticks 2 --backend vulkan
expect 0 "^vulkan  *skipped .*the loader found none" determinism "$conf/rope.ini" --ticks 3
expect 0 "^hash" run "$conf/cloth.ini" --ticks 2
for test in "$@"; do
  "$test" >"$folder/out" 2>&1
  got=$?
  if [ $got -ne 77 ] && { [ $got -ne 0 ] || ! grep -q SKIPPED "$folder/out"; }; then
    echo "$test: exit $got, expected 77, or 0 with skipped tests"
    cat "$folder/out"
    failed=1
  fi
done
exit $failed
