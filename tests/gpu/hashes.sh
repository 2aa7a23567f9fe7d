#!/bin/sh
# hashes.sh BUILD: the hashes that docs/gpu.md gives for whole simulations on devices are those of this machine's CPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
failed=0
rows=0
while read -r name ticks ini settings; do
  case $name in '#'*) continue ;; esac
  want=$(sed -n "s/^| $name | $ticks | \([0-9a-f]*\) |.*/\1/p" "$root/docs/gpu.md")
  # shellcheck disable=SC2086
  found=$("$build/bin/samebit" run "$root/$ini" $settings --ticks "$ticks" --backend cpu --set determinism.mode=Off | sed -n 's/^hash *//p')
  rows=$((rows + 1))
  [ "$want" = "$found" ] && continue
  echo "$name, $ticks ticks: docs/gpu.md has \"$want\", the CPU gives $found"
  failed=1
done <"$root/tests/gpu/scenes.txt"
echo "$rows scenes compared"
[ $rows -gt 0 ] && exit $failed
