#!/bin/sh
# make lint: layers, layout, forbidden calls, clang-tidy. Needs build/release configured.
#
# clang-tidy reads whole headers, so it does not see every file on every commit: it takes the files
# changed in the last commits (at most TIDY_FILES of them) and, in turn, one tenth of the rest; which
# tenth is the number of commits modulo ten, so that a commit always gives the same answer.
# That is TIDY=some; TIDY=all checks every file (`make tidy`), TIDY=none (what `make lint` does until
# a whole pass has been clean once) none.
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

# clang-tidy
tidy=${TIDY:-none}
units=$(say "$sources" | grep '\.cpp$' | grep -v '^tests/')
if [ "$tidy" = some ]; then
    changed="" turn=0
    if git rev-parse -q --verify HEAD >/dev/null 2>&1; then
        base=$(git rev-parse -q --verify HEAD~5 || git rev-list --max-parents=0 HEAD | tail -1)
        changed=$({ git diff --name-only "$base"; git ls-files -o --exclude-standard; } | sort -u)
        turn=$(($(git rev-list --count HEAD) % 10))
    fi
    recent=$(say "$units" | grep -v '_test\.cpp$' | while read -r f; do
        case "
$changed
" in *"
$f
"*) echo "$f" ;; esac
    done | head -n "${TIDY_FILES:-16}")
    rota=$(say "$units" | awk -v t="$turn" 'NR % 10 == t')
    units=$(printf '%s\n%s\n' "$recent" "$rota" | grep . | sort -u)
fi
if [ "$tidy" != none ] && [ -n "$units" ]; then
    jobs=$(nproc 2>/dev/null || echo 2)
    start=$(date +%s)
    say "$units" | xargs -P "$jobs" -n 4 clang-tidy -quiet -p build/release >tidy.log 2>tidy-notes.log
    status=$?
    if [ $status -ne 0 ] || grep -qE '(warning|error):' tidy.log; then
        grep -vE '^[0-9]+ warnings? generated' tidy-notes.log | grep -E 'error|Error' | head -20
        cat tidy.log
        trouble "clang-tidy: see above"
    else
        say "clang-tidy: $(say "$units" | wc -l) files clean in $(($(date +%s) - start)) s"
    fi
    rm -f tidy.log tidy-notes.log
fi

[ $bad = 0 ] && say "lint: clean"
exit $bad
