#!/bin/sh
# Installs what is missing, builds, and runs the main job: a robot from a model file under a verified determinism mode.
#   ./run.sh                          conf/humanoid.ini
#   ./run.sh conf/arms.ini --ticks 500
set -e
cd "$(dirname "$0")"
. ./.install.sh
install_missing gcc g++ libc6-dev cmake ninja-build pkg-config libinih-dev libxxhash-dev libxml2-dev libcjson-dev libelf-dev libcapstone-dev libseccomp-dev \
  libvulkan-dev glslc spirv-headers spirv-tools
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSAMEBIT_TESTS=OFF >build.log 2>&1 || { cat build.log; exit 1; }
cmake --build build >>build.log 2>&1 || { tail -n 40 build.log; exit 1; }
[ $# -gt 0 ] || set -- conf/humanoid.ini
exec build/bin/samebit run "$@"
