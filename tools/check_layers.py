#!/usr/bin/env python3
"""Rooms with one-way doors: refuses an include that climbs (see ARCHITECTURE.md), and an internal
header that fovea/fovea.h reaches (all that it reaches is installed for users).

    tools/check_layers.py [ROOT]

Every file under fovea/ROOM/ may include its own room and the rooms listed for it below. A test
(NAME_test.cpp) may also reach what its room's doors lead to. Exit code 1 where a rule is broken.
"""
import pathlib
import re
import sys

# The doors. A room may include exactly the rooms on its line (and itself).
BELOW_TASKS = "base tensor autograd ops nn models text io data metrics infer train"
DOORS = {
    "base": "",
    "kernels": "base",
    "tensor": "base",
    "autograd": "base tensor",
    "ops": "base tensor autograd kernels",
    "nn": "base tensor ops",
    "models": "base tensor ops nn",
    "text": "base",
    "io": "base tensor",
    "data": "base tensor text io",
    "metrics": "base",
    "infer": "base tensor ops nn models text",
    "train": "base tensor autograd ops nn data io metrics",
    "tasks": BELOW_TASKS,
    "inspect": BELOW_TASKS + " tasks",
    "server": "base text io infer tasks inspect",
    "bench": BELOW_TASKS + " kernels tasks inspect",
    "cli": BELOW_TASKS + " tasks inspect server bench",
}
DOORS = {room: set(doors.split()) for room, doors in DOORS.items()}

# Headers that belong to one room: intrinsics are a matter of the kernels.
# base/threads.cpp sets the denormal flags and spins, which needs two of them.
ONLY_IN = {"immintrin.h": {"kernels"}, "x86intrin.h": {"kernels"}, "hwy/highway.h": {"kernels", "bench"},
           "CLI/CLI.hpp": {"cli"}, "dnnl.hpp": {"bench"}}
EXCEPT = {("fovea/base/threads.cpp", "immintrin.h")}

PUBLIC = "fovea/fovea.h"
INTERNAL_ROOMS = {"kernels", "bench", "cli"}
INTERNAL_NAME = re.compile(r"_test\.h$|^test_|^op_check\.h$|-inl\.h$")
# What a user of the library has: not a test framework, not Highway.
NOT_FOR_USERS = re.compile(r"^(gtest|gmock|hwy|CLI)/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(room):
    seen, todo = set(), [room]
    while todo:
        for door in DOORS[todo.pop()]:
            if door not in seen:
                seen.add(door)
                todo.append(door)
    return seen


def problems_of(root, path):
    relative = path.relative_to(root).as_posix()
    room = relative.split("/")[1]
    if room not in DOORS:
        yield f"{relative}:1: room {room!r} is not in the plan; add it to tools/check_layers.py"
        return
    allowed = {room} | (reachable(room) if path.stem.endswith("_test") else DOORS[room])
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        where = f"{relative}:{number}"
        if target.startswith("fovea/"):
            other = target.split("/")[1]
            if other not in allowed:
                yield f"{where}: {room} may not include {target}: its doors are " + \
                      (", ".join(sorted(DOORS[room])) or "none")
            elif not (root / target).exists():
                yield f"{where}: {target} does not exist"
        elif quote == '"' and not target.startswith("hwy/"):  # Highway's own way of writing it
            yield f'{where}: "{target}": write includes from the root, "fovea/ROOM/FILE.h"'
        elif target in ONLY_IN and room not in ONLY_IN[target] and (relative, target) not in EXCEPT:
            yield f"{where}: <{target}> belongs to " + ", ".join(sorted(ONLY_IN[target]))


def public_problems(root):
    reached, todo = {}, [(PUBLIC, "")]
    while todo:
        header, by = todo.pop()
        if header in reached:
            continue
        reached[header] = by
        path = pathlib.PurePosixPath(header)
        if path.parts[1] in INTERNAL_ROOMS or INTERNAL_NAME.search(path.name):
            yield f"{by}: reached from {PUBLIC}, so users get it, but {header} is internal"
            continue
        if not (root / header).exists():
            continue  # problems_of says so
        for line in (root / header).read_text(errors="replace").splitlines():
            match = INCLUDE.match(line)
            if match and match[2].startswith("fovea/"):
                todo.append((match[2], header))
            elif match and NOT_FOR_USERS.match(match[2]):
                yield f"{header}: reached from {PUBLIC}, but wants <{match[2]}>"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    root = root.resolve()
    files = sorted(p for p in (root / "fovea").rglob("*") if p.suffix in (".h", ".cpp"))
    files = [p for p in files if p != root / PUBLIC]  # it stands above all rooms
    problems = [p for path in files for p in problems_of(root, path)] + list(public_problems(root))
    print("\n".join(problems), end="\n" if problems else "")
    if not files:
        print(f"check_layers: no sources under {root}/fovea", file=sys.stderr)
    if problems or not files:
        sys.exit(1)
    print(f"layers: {len(files)} files, no include climbs")


main()
