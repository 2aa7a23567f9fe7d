#!/bin/sh
# Installs what is missing, builds, and runs the tests. About 15 minutes on two cores.
#   ./test.sh           all but the cross targets other than aarch64 and WebAssembly
#   ./test.sh --all     those too (riscv64, s390x, ppc64le, i686, soft-float ARM under emulation): 15 minutes more
#   ./test.sh --quick   the release build's tests only, without the slow label
set -e
case "${1:-}" in
"" | --all | --quick) ;;
*) echo "usage: ./test.sh [--all|--quick]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")"
. ./.install.sh
install_missing ccache gcc g++ libc6-dev clang cmake ninja-build pkg-config libinih-dev libxxhash-dev libxml2-dev libcjson-dev libelf-dev libcapstone-dev libseccomp-dev libcmocka-dev \
  libvulkan-dev glslc spirv-headers spirv-tools mesa-vulkan-drivers vulkan-validationlayers binutils libclang-rt-14-dev \
  qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-s390x-linux-gnu \
  libc6-dev-s390x-cross gcc-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabi libc6-dev-armel-cross \
  gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross wasi-libc libclang-rt-14-dev-wasm32 lld nodejs
# A second run compiles only what has changed, in the legs of the matrix too.
export CMAKE_C_COMPILER_LAUNCHER=ccache
export SAMEBIT_TESTS_NEED_DEVICE=1 # Vulkan, of which mesa-vulkan-drivers brings one
build() { # folder, then cmake arguments
  folder=$1
  shift
  cmake -S . -B "$folder" -G Ninja -DSAMEBIT_TESTS=ON -DSAMEBIT_WERROR=ON "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
  cmake --build "$folder" >>"$folder.log" 2>&1 || { tail -n 60 "$folder.log"; exit 1; }
}
echo "== release"
build build -DCMAKE_BUILD_TYPE=Release
if [ "${1:-}" = "--quick" ]; then
  exec ctest --test-dir build --output-on-failure -LE "slow"
fi
if [ "${1:-}" = "--all" ]; then
  ctest --test-dir build --output-on-failure
else
  ctest --test-dir build --output-on-failure -LE "cross"
fi
echo "== AddressSanitizer and UndefinedBehaviorSanitizer"
build build-asan -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
exec ctest --test-dir build-asan --output-on-failure -L "unit|abi|cases" -LE "slow|gpu|determinism"
