#!/bin/sh
# row.sh SAMEBIT GPU_RUN STEEL [PROBE_REPORT]: a row of so many boxes, each of which waits for the one before it, that the loops of one shader do not get to its end on every driver.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/row.xml" <<END
<mujoco><option gravity="0 0 0"/><worldbody>
  <replicate count="24000" offset="0.2 0 0"><body><freejoint/><geom type="box" size=".1 .1 .1"/></body></replicate>
</worldbody></mujoco>
END
cat >"$folder/row.ini" <<END
[world]
scene = row.xml
dt = 1/100
[solver.all]
plugin = steel
substeps = 1
END
# with a fault that only a driver which ends loops can show
[ $# -lt 4 ] || "$4" | grep -q llvmpipe || exit 77
"$1" determinism "$folder/row.ini" --ticks 1 --legs lanes-4 --keep "$folder/kept" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$2" scene row "$folder/kept/run.setup" 1 "$3"
