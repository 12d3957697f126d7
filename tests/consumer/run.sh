#!/bin/sh
# Installs the build into a fresh folder, builds the consumer against it, runs it: run.sh BUILD WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
mkdir -p "$2"
cmake --install "$1" --prefix "$2/installed" >"$2/install.log"
test -x "$2/installed/bin/fovea"
cmake -S "$here" -B "$2/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$2/installed" >"$2/configure.log" || { cat "$2/configure.log"; exit 1; }
cmake --build "$2/build"
"$2/build/consumer"
