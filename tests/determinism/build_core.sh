#!/bin/sh
# Builds the core program of one leg of the matrix: build_core.sh DIR LEG
#
#   gcc-O0 gcc-O3 clang-O0 clang-O3   COMPILER-LEVEL on this machine
#   gcc-v3 gcc-native                 -O3 for x86-64-v3, and for this very processor
#   aarch64 riscv64 riscv64_clang s390x i686 ppc64le armel wasm wasm_simd
#                                     presets of CMakePresets.json, run under qemu-user or Node
#
# DIR/LEG/run then runs DIR/LEG/bin/samebit_core, DIR/LEG/checks the determinism checks. Exit 77 when the leg's compiler or emulator
# is not installed.
set -eu
work=$1 leg=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"
dir=$(cd "$work" && pwd)/$leg
here=$root/tests/determinism
emulator=
missing() { echo "$leg skipped: $1 is not installed"; exit 77; }
preset() { sed -n "/\"name\": \"$leg\", \"inherits\"/,/}}/s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$root/CMakePresets.json"; }
case $leg in
gcc-*|clang-*)
  compiler=${leg%-*}
  command -v "$compiler" > /dev/null || missing "$compiler"
  case $leg in
  *-native) [ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || missing "a processor that -march=native knows"; flags="-O3 -march=native" ;;
  *-v3) grep -q avx2 /proc/cpuinfo 2> /dev/null || missing "a processor of x86-64-v3"; flags="-O3 -march=x86-64-v3" ;;
  *) flags=-${leg##*-} ;;
  esac
  set -- -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=$flags -DNDEBUG" -DSAMEBIT_CORE_ONLY=ON ;;
*)
  compiler=$(preset CMAKE_C_COMPILER)
  [ -n "$compiler" ] || { echo "no leg $leg"; exit 2; }
  command -v "$compiler" > /dev/null || missing "$compiler"
  emulator=$(preset CMAKE_CROSSCOMPILING_EMULATOR)
  command -v "$emulator" > /dev/null || missing "$emulator"
  case $leg in
  wasm*) [ -f /usr/lib/wasm32-wasi/libc.a ] || missing wasi-libc ;;
  riscv64_clang) command -v riscv64-linux-gnu-ld > /dev/null || missing binutils-riscv64-linux-gnu ;;
  esac
  set -- --preset "$leg" ;;
esac
targets="samebit_core_program determinism_checks"
cmake -G Ninja -S "$root" "$@" -B "$dir" > "$dir.log" 2>&1 && cmake --build "$dir" --target $targets -j 2 >> "$dir.log" 2>&1 || {
  tail -20 "$dir.log"
  echo "$leg does not build"
  exit 1
}
case $leg in
wasm*) emulator="node --no-warnings $here/run_wasm.mjs" ;;
esac
for program in run:samebit_core checks:determinism_checks; do
  printf '#!/bin/sh\nexec %s %s "$@"\n' "$emulator" "$dir/bin/${program#*:}" > "$dir/${program%%:*}"
  chmod +x "$dir/${program%%:*}"
done
