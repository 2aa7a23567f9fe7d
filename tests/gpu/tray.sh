#!/bin/sh
# tray.sh SAMEBIT SOLVER: so many balls on one tray that a driver which ends loops does not get through them. The run has the CPU's hash, or stops.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/tray.xml" <<END
<mujoco><worldbody>
  <geom type="plane" size="50 50 1"/>
  <body pos="6 6 0.05"><freejoint/><geom type="box" size="6.5 6.5 .05"/></body>
  <replicate count="124" offset="0.1 0 0"><replicate count="124" offset="0 0.1 0"><body pos="0 0 0.139"><freejoint/><geom type="sphere" size=".04"/></body></replicate></replicate>
</worldbody></mujoco>
END
cat >"$folder/tray.ini" <<END
[world]
scene = tray.xml
dt = 1/100
[collision]
contact_capacity = 60000
pair_capacity = 60000
[solver.all]
plugin = $2
substeps = 1
END
hash() { "$1" run "$folder/tray.ini" --ticks 1 --backend "$2" 2>&1 | tee "$folder/$2" | awk '$1 == "hash" { print $2 }'; }
cpu=$(hash "$1" cpu)
device=$(hash "$1" vulkan)
grep -q SB-VULKAN-DEVICE "$folder/vulkan" && exit 77
[ -n "$cpu" ] || { cat "$folder/cpu"; exit 1; }
[ "$device" != "$cpu" ] || { echo "the CPU's hash"; exit 0; }
grep -q SB-NUMERIC-NOT-FINITE "$folder/vulkan" && { echo "stopped"; exit 0; }
cat "$folder/vulkan"
exit 1
