#!/bin/sh
# Golden hashes: makes them anew and compares with what is recorded, or records them.
#
#   golden.sh check  BUILD [SHARED]    compares; fails when a recorded value no longer comes out, when a value changed without a
#                                      new SB_NUMERICS_VERSION, or when CHANGELOG.md has no heading for this version
#   golden.sh remake BUILD [SHARED]    writes solvers/golden_hashes.h, run_hashes.txt and this version's part of numerics.txt;
#                                      refuses to change a value that is recorded for this version already
#   golden.sh replace BUILD [SHARED]   the same, and does replace such values: for a version that nobody has used yet
#
# BUILD holds bin/samebit and bin/samebit_core. numerics.txt has one line for each value of each version: version, name, hash.
set -eu
export LC_ALL=C
action=$1
build=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
shared=${3:-$root/../shared/models}
case $shared in /*) ;; *) shared=$PWD/$shared ;; esac
here=$root/tests/golden
header=$root/solvers/golden_hashes.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

fail() { echo "golden: $*" >&2; exit 1; }

# Micro-scenes: lines "featherstone/arm HASH" and "COLLISION/drop HASH".
"$build/bin/samebit_core" --golden | sed 's| |/|' > "$work/micro"
[ -s "$work/micro" ] || fail "samebit_core --golden printed nothing"

# Runs: lines "run/SCENE-TICKS/SOLVER HASH".
grep -v '^#' "$here/scenes.txt" > "$work/scenes"
while read -r name ticks scene options; do
  case $scene in
  SHARED/*)
    scene=$shared/${scene#SHARED/}
    if [ ! -f "$scene" ]; then
      grep "^$name " "$here/run_hashes.txt" | while read -r n s t h; do echo "run/$n-$t/$s $h"; done >> "$work/runs" || true
      continue
    fi ;;
  esac
  # shellcheck disable=SC2086
  "$build/bin/samebit" cook "$scene" $options --out "$work/$name.sbm" > /dev/null 2>&1 || fail "$name: $scene does not cook"
  for solver in $("$build/bin/samebit_core" --solvers); do
    "$build/bin/samebit_core" "$work/$name.sbm" --solver "$solver" --ticks "$ticks" > "$work/out" 2> "$work/err" || {
      grep -q SB-SOLVER-REFUSED "$work/err" && continue # a scene that this solver cannot simulate
      cat "$work/err"
      fail "$name under $solver does not run"
    }
    hash=$(sed -n 's/^hash //p' "$work/out")
    echo "$name $solver $ticks $hash" >> "$work/run_hashes"
    echo "run/$name-$ticks/$solver $hash" >> "$work/runs"
  done
done < "$work/scenes"

# The shared maths' own golden file.
sed -n 's|^ *0x\([0-9a-f]*\)u, /\* \(.*\) \*/|maths/\2 \1|p' tests/maths/golden_maths.inc | tr ' ' '~' | sed 's/~\([^~]*\)$/ \1/' > "$work/maths"
[ -s "$work/maths" ] || fail "tests/maths/golden_maths.inc has no values"
cat "$work/micro" "$work/runs" "$work/maths" > "$work/values"

# Every value against the record of this version.
version=$(sed -n 's/^#define SB_NUMERICS_VERSION *//p' "$header")
touch "$here/numerics.txt"
sed -n "s/^$version //p" "$here/numerics.txt" > "$work/recorded"
changed=0
missing=0
while read -r name hash; do
  old=$(awk -v n="$name" '$1 == n { print $2 }' "$work/recorded")
  if [ -z "$old" ]; then
    missing=$((missing + 1))
    [ "$action" != check ] || echo "golden: $name is $hash, and numerics $version records no value for it"
  elif [ "$old" != "$hash" ]; then
    changed=$((changed + 1))
    [ "$action" = replace ] || echo "golden: $name is $hash, numerics $version records $old"
  fi
done < "$work/values"

if [ "$action" = check ]; then
  while read -r name hash; do
    grep -q "0x${hash}ull" "$header" || fail "$name is $hash, which solvers/golden_hashes.h does not hold: run tests/golden/remake.sh"
  done < "$work/micro"
  grep '^[^#]' "$here/run_hashes.txt" | while read -r name solver ticks hash; do
    grep -q "^run/$name-$ticks/$solver $hash$" "$work/runs" || fail "$name under $solver: run_hashes.txt holds $hash, which does not come out"
  done
  grep -q "^##.*numerics $version\b" CHANGELOG.md || fail "CHANGELOG.md has no heading with \"numerics $version\""
  [ $changed = 0 ] || fail "$changed values changed: give them a new SB_NUMERICS_VERSION and the reason in CHANGELOG.md, then run tests/golden/remake.sh"
  [ $missing = 0 ] || fail "$missing values are not recorded: run tests/golden/remake.sh"
  echo "golden: $(wc -l < "$work/values") values are those of numerics $version"
  exit 0
fi
if [ $changed != 0 ] && [ "$action" != replace ]; then
  fail "$changed recorded values would change. Raise SB_NUMERICS_VERSION in solvers/golden_hashes.h and give the reason in CHANGELOG.md"
fi
# solvers/golden_hashes.h: each value is put behind its scene's name.
hash_of() { sed -n "s|^$1 ||p" "$work/micro"; }
sed -i "s/^#define SB_GOLDEN_COLLISION .*/#define SB_GOLDEN_COLLISION 0x$(hash_of COLLISION/drop)ull/" "$header"
sed -i "s/^#define SB_GOLDEN_SENSORS .*/#define SB_GOLDEN_SENSORS 0x$(hash_of SENSORS/sense)ull/" "$header"
for id in $(sed -n 's|/.* .*||p' "$work/micro" | grep -v "COLLISION\|SENSORS" | sort -u); do
  list=$(sed -n "s|^$id/\(.*\) \(.*\)|SB_GOLDEN_CPU(\"\1\", 0x\2ull), |p" "$work/micro" | tr -d '\n' | sed 's/, $//')
  macro=SB_GOLDENS_$(echo "$id" | tr a-z A-Z)
  grep -q "^#define $macro " "$header" || fail "$header has no $macro"
  sed -i "s/^#define $macro .*/#define $macro $list/" "$header"
done
{ echo "# Final state hashes of the scenes in scenes.txt: scene, solver, ticks, hash. Remade by tests/golden/remake.sh."
  cat "$work/run_hashes"
  # Scenes that cannot be read here keep their lines.
  while read -r name rest; do
    [ -f "$work/$name.sbm" ] || grep "^$name " "$here/run_hashes.txt" || true
  done < "$work/scenes"; } > "$work/new_run_hashes"
cp "$work/new_run_hashes" "$here/run_hashes.txt"
# Values of this version: those made now, and recorded ones that are not made any more, unless they are replaced; other versions stay.
[ "$action" = remake ] || : > "$work/recorded"
{ grep -v "^$version " "$here/numerics.txt" || true
  { cat "$work/values"; awk 'NR == FNR { have[$1] = 1; next } !($1 in have)' "$work/values" "$work/recorded"; } | sort | sed "s/^/$version /"; } > "$work/numerics"
cp "$work/numerics" "$here/numerics.txt"
echo "golden: recorded $(wc -l < "$work/values") values of numerics $version ($changed replaced, $missing new); build again"
