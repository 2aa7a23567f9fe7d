#!/bin/sh
# never_ends.sh COMMAND FIXTURES: a shader that does not end is given up after the time limit, with one error and exit code 2.
command=$1 fixtures=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
printf '[world]\nscene = generator:cloth\n[determinism]\nmode = Off\n[compute]\ntime_limit = 2\n[scene]\nmodel = springs\nrows = 4\ncolumns = 4\n[solver.all]\nplugin = %s\nbackend = vulkan\n' \
  shader_never_ends >"$folder/never_ends.ini"
timeout 60 "$command" run "$folder/never_ends.ini" --ticks 2 --plugins "$fixtures" >"$folder/out" 2>&1
got=$?
if grep -q SB-VULKAN-DEVICE "$folder/out"; then
  echo "skipping: no Vulkan device"
  exit 77
fi
[ $got -eq 2 ] && [ "$(grep -c 'error \[SB-VULKAN-TIME\]' "$folder/out")" -eq 1 ] && [ "$(grep -c 'error \[' "$folder/out")" -eq 1 ] && exit 0
echo "exit $got, expected 2 and one error:"
cat "$folder/out"
exit 1
