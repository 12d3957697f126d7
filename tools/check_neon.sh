#!/bin/sh
# Compiles the rooms base, kernels and tensor for 64-bit ARM (NEON), where a cross compiler is at hand
# (Debian: g++-aarch64-linux-gnu). Library headers are this machine's own: nothing is linked or run.
set -eu
cd "$(dirname "$0")/.."
cxx=${CXX_AARCH64:-aarch64-linux-gnu-g++}
command -v "$cxx" >/dev/null || { echo "check_neon: skipped, no $cxx here"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/include"
for header in hwy fmt nlohmann xxhash.h xxh3.h zlib.h zconf.h simdjson.h; do
    for place in /usr/include /usr/include/"$(cc -dumpmachine)"; do
        [ -e "$place/$header" ] && ln -sf "$place/$header" "$work/include/$header"
    done
done
failed=0 count=0
for file in fovea/base/*.cpp fovea/kernels/*.cpp fovea/kernels/*/*.cpp fovea/tensor/*.cpp; do
    case $file in *_test.cpp) continue ;; esac
    count=$((count + 1))
    "$cxx" -std=c++20 -O1 -march=armv8-a+crypto -I. -isystem "$work/include" -c "$file" \
        -o "$work/object.o" 2>"$work/errors" && continue
    echo "check_neon: $file"
    grep -m 3 'error' "$work/errors" || cat "$work/errors"
    failed=$((failed + 1))
done
echo "check_neon: $count files compiled for ARM, $failed failed"
[ "$failed" -eq 0 ]
