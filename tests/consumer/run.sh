#!/bin/sh
# Installs the build into a fresh folder, looks at what is there, builds the consumer against it in
# both ways (find_package, pkg-config) and runs it: run.sh BUILD WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
mkdir -p "$2"
work=$(cd "$2" && pwd)
prefix=$work/installed
cmake --install "$1" --prefix "$prefix" >"$work/install.log"

fail() { echo "consumer: $*" >&2; exit 1; }
there() { [ -s "$prefix/$1" ] || fail "not installed, or empty: $1"; }
there bin/fovea
there include/fovea/fovea.h
there share/doc/fovea/LICENSE
there share/man/man1/fovea.1
there share/bash-completion/completions/fovea
there share/zsh/site-functions/_fovea
there share/fish/vendor_completions.d/fovea.fish
bash -n "$prefix/share/bash-completion/completions/fovea"
if command -v groff >/dev/null 2>&1; then
    notes=$(groff -man -Tascii -ww -z "$prefix/share/man/man1/fovea.1" 2>&1) || true
    [ -z "$notes" ] || fail "groff says of fovea.1: $notes"
fi

# The public headers and no other: nothing internal, nothing that wants a test framework or Highway.
cd "$prefix/include"
internal=$(find . -path ./fovea/cli -o -path ./fovea/bench -o -path ./fovea/kernels \
                  -o -name '*_test.h' -o -name 'test_*.h' -o -name 'op_check.h' -o -name '*-inl.h')
[ -z "$internal" ] || fail "internal headers are installed:
$internal"
wants=$(grep -rlE '#include [<"](gtest|hwy|CLI)/' . || true)
[ -z "$wants" ] || fail "public headers want more than a user has:
$wants"
cd "$work"

cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" 2>&1 ||
    { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build"
"$work/build/consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fovea.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # words are wanted
${CXX:-c++} -O1 $(pkg-config --cflags fovea) "$here/main.cpp" -o consumer-pc $(pkg-config --libs fovea)
./consumer-pc
