#!/bin/sh
# lost_device.sh COMMAND CONF SHIM: a device that is lost in the first tick, in the middle, at the last submission, or while state is read for a file, ends a
# run with one error and exit code 2.
command=$1 conf=$2 shim=$3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

simulate()
{
  SAMEBIT_LOST_AT=$1 SAMEBIT_SUBMISSIONS="$folder/count" LD_PRELOAD=$shim "$command" run "$conf/rope.ini" --ticks "$2" --backend vulkan --dump "$folder/dump" \
    >"$folder/out" 2>&1
}

# submissions TICKS: all of a run
submissions()
{
  if ! simulate 1000000000 "$1" || ! cat "$folder/count"; then
    cat "$folder/out" >&2
    echo 0
  fi
}

if VK_LOADER_DEBUG= "$command" run "$conf/rope.ini" --ticks 1 --backend vulkan 2>&1 | grep -q SB-VULKAN-DEVICE; then
  echo "skipping: no Vulkan device"
  exit 77
fi
few=$(submissions 1)
many=$(submissions 20)
[ "$few" -gt 10 ] && [ "$many" -gt "$few" ] || { echo "$few submissions in one tick, $many in twenty"; exit 1; }
for at in 1 $((few / 2)) $((few + 2)) $(((few + many) / 2)) $((many - 1)) "$many"; do
  rm -f "$folder/dump"
  simulate "$at" 20
  got=$?
  if [ $got -ne 2 ] || [ "$(grep -c 'error \[SB-VULKAN-CALL\].*lost' "$folder/out")" -ne 1 ] || [ -e "$folder/dump" ]; then
    echo "lost at submission $at of $many: exit $got, expected 2, one error and no file:"
    cat "$folder/out"
    failed=1
  fi
done
exit $failed
