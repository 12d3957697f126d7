#!/bin/sh
# clang-tidy over the given .cpp files: tools/tidy.sh FILES... Prints what is wrong; exit 1 if anything is.
#
# Most of clang-tidy's time goes into headers, so files of one room are read together, up to 25 in one
# unit (build/tidy/*.cpp: there, because .clang-tidy is looked for above the file). Where names of such
# files clash they are read one by one, as kernels are, which Highway compiles several times each.
# Functions of tests may be long: they are tables. Kernels take raw views and sizes, and so more
# parameters.
set -u
cd "$(dirname "$0")/.."
work=build/tidy

tidy() {  # FILE MORE_FLAGS...
    file=$1
    shift
    clang-tidy -quiet "$@" "$file" -- -std=c++20 -I. '-DFOVEA_VERSION="lint"' '-DFOVEA_SOURCE_DIR="."' 2>/dev/null
}

one() {  # FILE: on its own
    case $1 in
        *_test.cpp | fovea/kernels/*) tidy "$1" --checks=-readability-function-size ;;
        *) tidy "$1" ;;
    esac
}

together() {  # GROUP: a file of build/tidy with a list of names beside it
    checks=-bugprone-suspicious-include
    case $1 in *_test_*) checks=$checks,-readability-function-size ;; esac
    tidy "$1" --header-filter='(^|/)fovea/.*' --checks=$checks >"$1.log"
    if grep -q 'clang-diagnostic-error' "$1.log"; then
        while read -r file; do one "$file"; done <"$1.names"
    else
        cat "$1.log"
    fi
}

case ${1:-} in
    --one) one "$2"; exit ;;
    --together) together "$2"; exit ;;
esac

rm -rf $work
mkdir -p $work
for file in "$@"; do
    room=$(echo "$file" | cut -d/ -f2)
    case $file in
        fovea/kernels/*) echo "$file" >>$work/alone.names ;;
        *_test.cpp) echo "$file" >>"$work/${room}_test.all" ;;
        *) echo "$file" >>"$work/$room.all" ;;
    esac
done
for all in "$work"/*.all; do
    [ -f "$all" ] || continue
    split -l 25 -d --additional-suffix=.cpp.names "$all" "${all%.all}_"
done
for names in "$work"/*.cpp.names; do
    [ -f "$names" ] || continue
    sed 's/.*/#include "&"/' "$names" >"${names%.names}"
done

jobs=$(nproc 2>/dev/null || echo 2)
{
    find $work -name '*.cpp' | sort | xargs -r -P "$jobs" -I{} tools/tidy.sh --together {}
    [ ! -f $work/alone.names ] || xargs -r -P "$jobs" -I{} tools/tidy.sh --one {} <$work/alone.names
} >$work/findings.log
cat $work/findings.log
! grep -qE '(warning|error):' $work/findings.log
