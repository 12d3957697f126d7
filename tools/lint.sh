#!/bin/sh
# make lint: layers, layout, forbidden calls, headers that stand alone, clang-tidy.
#
# The last two read whole headers, so they do not see every file on every commit: they take the files
# changed in the last five commits (at most TIDY_FILES=24 sources and 40 headers) and, in turn, one
# fifth of all headers; which one is the number of commits, so that a commit always gives the same
# answer. That is TIDY=some, about three minutes on two cores. TIDY=all checks every file (`make tidy`),
# TIDY=none leaves both out.
set -u
cd "$(dirname "$0")/.."
bad=0
say() { printf '%s\n' "$*"; }
trouble() { say "$*"; bad=1; }

if [ -d .git ] || [ -f .git ]; then
    sources=$(git ls-files -co --exclude-standard 'fovea/*.h' 'fovea/*.cpp' 'tests/*.h' 'tests/*.cpp')
else
    sources=$(find fovea tests -name '*.h' -o -name '*.cpp' | sort)
fi
sources=$(for f in $sources; do [ -f "$f" ] && echo "$f"; done)

python3 tools/check_layers.py || bad=1

# layout (tables are made by scripts, which lay them out themselves)
laid_out=$(say "$sources" | grep -v '_tables\.cpp$')
say "$laid_out" | xargs clang-format --dry-run -Werror 2>format.log
if [ -s format.log ]; then
    grep -E 'error:' format.log | cut -d: -f1 | sort | uniq -c | head -40
    trouble "layout: run \`make format\`"
else
    say "layout: $(say "$laid_out" | wc -l) files as clang-format has them"
fi
rm -f format.log

# forbidden: PATTERN, REASON, FILES...
forbid() {
    pattern=$1 reason=$2
    shift 2
    if found=$(grep -nE "$pattern" "$@" /dev/null); then
        say "$found"
        trouble "forbidden: $reason"
    fi
}
all=$sources
# No file may run code: the rooms that read files start no program and load no library. The bench
# room starts the oneDNN peer, our own program, and so is not in this list.
readers=$(say "$sources" | grep -vE '^(fovea/bench|tests)/')
# shellcheck disable=SC2086
{
    forbid 'std::(basic_)?regex' "std::regex overflows its stack on long input; use PCRE2 or write the loop" $all
    forbid '\b(dlopen|dlmopen|popen|system|execl|execlp|execv|execvp|execve|posix_spawnp?) *\(' \
        "no file can run code: these rooms start no program and load no library" $readers
    forbid '\b(strcpy|strcat|sprintf|gets|alloca|rand|srand|strtok) *\(' "unsafe or not reproducible; base/ has a better one" $all
    forbid '#include <(format|source_location|coroutine)>' "GCC 12 and clang 14 must both take the code" $all
    forbid 'ffast-math|funsafe-math|Ofast|float_control|pragma.*fp +(contract|reassociate)' "no fast-math: same bits everywhere" \
        $all CMakeLists.txt CMakePresets.json $(find cmake -type f)
    forbid '\b(TODO|FIXME|XXX)\b' "finish it, or open an issue" $all
}
# Package registries are named nowhere in the project (words of their hosts, never the hosts).
if [ -d .git ] || [ -f .git ]; then
    if found=$(git grep -nIiE '://[a-z0-9.-]*(registry|pypi|pythonhosted|npmjs|yarnpkg|crates|rubygems|anaconda|maven)' -- . ':!tools/lint.sh'); then
        say "$found"
        trouble "forbidden: the address of a package registry"
    fi
fi

# docs/command-line.md is made from the parser, where there is a program to ask
fovea=build/release/bin/fovea
if [ -x $fovea ] && [ -f docs/command-line.md ]; then
    $fovea help --markdown | cmp -s - docs/command-line.md ||
        trouble "docs: docs/command-line.md is not what the parser says; run \`make docs\`"
fi

# Which files the slow checks see.
tidy=${TIDY:-some}
units=$(say "$sources" | grep '\.cpp$' | grep -v '^tests/')
headers=$(say "$sources" | grep '\.h$' | grep -v -e '-inl\.h$')
changed="" turn=0
if [ "$tidy" = some ] && git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    base=$(git rev-parse -q --verify HEAD~5 || git rev-list --max-parents=0 HEAD | tail -1)
    changed=$({ git diff --name-only "$base"; git ls-files -o --exclude-standard; } | sort -u)
    turn=$(($(git rev-list --count HEAD) % 10))
fi
some() {  # LIST MOST EVERY: those changed, at most so many, and one in EVERY of all (0: none)
    recent=$(printf '%s\n--\n%s\n' "$changed" "$1" |
        awk -v most="$2" '/^--$/ { second = 1; next }
                          !second { seen[$0] = 1; next }
                          seen[$0] && ++count <= most')
    rota=$(say "$1" | awk -v t="$turn" -v every="$3" 'every > 0 && NR % every == t % every')
    printf '%s\n%s\n' "$recent" "$rota" | grep . | sort -u
}
if [ "$tidy" = some ]; then
    units=$(some "$units" "${TIDY_FILES:-24}" 0)
    headers=$(some "$headers" 40 5)
fi

if [ "$tidy" != none ] && [ -n "$headers" ]; then
    start=$(date +%s)
    # shellcheck disable=SC2086
    if tools/check_headers.sh $headers; then
        say "headers: $(say "$headers" | wc -l) stand alone, in $(($(date +%s) - start)) s"
    else
        trouble "headers: each includes what it uses"
    fi
fi

# clang-tidy (tools/tidy.sh says how it reads them)
if [ "$tidy" != none ] && [ -n "$units" ]; then
    start=$(date +%s)
    # shellcheck disable=SC2086
    if tools/tidy.sh $units; then
        say "clang-tidy: $(say "$units" | wc -l) files clean in $(($(date +%s) - start)) s"
    else
        trouble "clang-tidy: see above"
    fi
fi

[ $bad = 0 ] && say "lint: clean"
exit $bad
