#!/bin/sh
# Installs the build into a fresh folder, builds the consumer against it, runs it: run.sh BUILD WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
mkdir -p "$2"
work=$(cd "$2" && pwd)
cmake --install "$1" --prefix "$work/installed" >"$work/install.log"
test -x "$work/installed/bin/fovea"
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$work/installed" >"$work/configure.log" 2>&1 ||
    { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build"
"$work/build/consumer"
