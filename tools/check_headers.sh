#!/bin/sh
# Does each header stand alone? tools/check_headers.sh HEADER...
#
# Compiles every one by itself, without code: an include that is missing shows here, and not in the
# unity and precompiled builds. (NAME-inl.h are pieces of Highway files and never stand alone.)
# About 1.2 s of CPU each: the standard library's and those of JSON and CLI11. A compiler that is
# missing or was killed is a failure too.
set -u
cd "$(dirname "$0")/.."
for header in "$@"; do
    case "$header" in *-inl.h) ;; *.h) echo "$header" ;; esac
done | xargs -r -P "$(nproc 2>/dev/null || echo 2)" -I{} sh -c '
    said=$("${CXX:-c++}" -std=c++20 -fsyntax-only -I. -Itests/text -DFOVEA_BINARY=\"\" \
        -DFOVEA_SOURCE_DIR=\"\" -x c++ -include "$1" /dev/null 2>&1) && exit 0
    echo "$1: does not compile alone"
    echo "$said" | grep -E "error" | head -3
    exit 1' sh {}
