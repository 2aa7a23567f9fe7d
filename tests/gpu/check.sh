#!/bin/sh
# Runs every parity test on this machine's first Vulkan device: each kernel's shader against scalar C, 4 and 8 lanes, bit for bit.
# check.sh [ELEMENTS] in a folder that prepare.sh has made. Set VK_DRIVER_FILES where the loader does not find the driver.
set -u
here=$(cd "$(dirname "$0")" && pwd)
elements=${1:-262144}
passed=0
failed=0
for test in "$here"/parity_*; do
  name=$(basename "$test")
  if [ "$name" = parity_mutants ]; then
    # planted faults; a device may happen to be right about some of them, so they are shown, not counted
    "$test" --differ --elements "$elements" --load "$here/spv/$name" | sed 's/^/  mutants: /'
    continue
  fi
  echo "== $name"
  if "$test" --elements "$elements" --load "$here/spv/$name"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
