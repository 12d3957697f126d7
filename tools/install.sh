#!/bin/sh
# Installs what is missing of tools/packages.txt: tools/install.sh GROUP...   (build lint fuzz bench)
#
# Silent and quick when nothing is missing. On Debian and its children the missing packages are
# installed with apt-get, as root or through sudo. Elsewhere it says what is needed and what was
# not found, and ends with exit code 1.
set -eu
list="$(dirname "$0")/packages.txt"
[ $# -gt 0 ] || set -- build

has_dpkg() { command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; }

if has_dpkg; then
    present=$(dpkg-query -W -f '${Package}:${db:Status-Status}\n')
fi
installed() {
    case "
$present
" in *"
$1:installed
"*) ;; *) return 1 ;; esac
}

probe() {  # cmd:NAME or header:PATH
    case "$1" in
        cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
        header:*) echo "#include <${1#header:}>" | ${CXX:-c++} -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
    esac
}

missing=""
report=""
while read -r package group what why; do
    case "$package" in ''|'#'*) continue ;; esac
    case " $* " in *" $group "*) ;; *) continue ;; esac
    if has_dpkg; then
        installed "$package" && continue
        # Something else than the package may provide it (a newer cmake, say). A runtime library
        # has no probe of its own, so it is never taken as given.
        [ "$package" != libclang-rt-14-dev ] && probe "$what" && continue
    else
        probe "$what" && continue
    fi
    missing="$missing $package"
    report="$report
  $package   (${what#*:}: $why)"
done < "$list"

[ -n "$missing" ] || exit 0

if ! has_dpkg; then
    system=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-}" || true)
    cat >&2 <<END
error: this is ${system:-not Debian}, where Fovea cannot install its packages by itself. Not found (Debian's names):
$report

hint: install them with this system's own tools, then run make again. A command is looked for in
      PATH, a header where ${CXX:-c++} finds it; GCC 12 or clang 14 and CMake 3.23 are the oldest that work.
END
    exit 1
fi

sudo=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "error: these packages are missing, and neither root nor sudo is at hand:$missing" >&2
        echo "hint: as root: apt-get install$missing" >&2
        exit 1
    fi
    sudo="sudo"
fi

echo "installing with apt-get:$missing" >&2
apt() {
    # shellcheck disable=SC2086  # $sudo is one word or none
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt update >"$log" 2>&1 || { tail -5 "$log" >&2; echo "warning: apt-get update failed; trying with the lists at hand" >&2; }
# shellcheck disable=SC2086  # one word a package
if ! apt install -y --no-install-recommends $missing >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "error: apt-get could not install:$missing" >&2
    echo "hint: Debian 12 (bookworm) or later has all of them; see the lines above" >&2
    exit 1
fi
