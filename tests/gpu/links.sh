#!/bin/sh
# links.sh SAMEBIT GPU_RUN XPBD SCENE: bodies and particles of one instance of xpbd, a scene of tests/vulkan, on this machine's CPU and on its device, every tick's hash.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/linked.ini" <<END
[world]
scene = $root/tests/vulkan/$4.xml
dt = 1/120
[solver.all]
plugin = xpbd
substeps = 4
END
"$1" determinism "$folder/linked.ini" --ticks 1 --legs lanes-4 --keep "$folder/kept" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$2" scene "$4" "$folder/kept/run.setup" 80 "$3"
