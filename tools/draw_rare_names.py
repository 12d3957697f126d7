#!/usr/bin/env python3
"""Pairs with a rare name, out of those that were not drawn: draw_rare_names.py pool.tsv.gz drawn.tsv 500 > names.tsv

A name is a capitalised word of three letters or more, not the sentence's first, that stands in both sentences alike; it is
rare where at most two of the drawn pairs have it. Pairs whose source or target is among the drawn ones are left out. With
seed 1, the same pairs for the same files, whatever the Python.
"""
import collections
import gzip
import random
import re
import sys

WORD = re.compile(r"[^\W\d_]+")
MOST = 2


def pairs(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return [tuple(line.rstrip("\n").split("\t")[:2]) for line in f]


def names(source, target):
    there = set(WORD.findall(target))
    words = WORD.findall(source)[1:]
    return [w for w in words if len(w) > 2 and w[0].isupper() and w[1:].islower() and w in there]


pool, drawn, count = pairs(sys.argv[1]), pairs(sys.argv[2]), int(sys.argv[3])
seen = collections.Counter(w for source, _ in drawn for w in set(WORD.findall(source)))
sources, targets = {s for s, _ in drawn}, {t for _, t in drawn}
rare = [(s, t) for s, t in pool
        if s not in sources and t not in targets and any(seen[w] <= MOST for w in names(s, t))]
random.Random(1).shuffle(rare)
sys.stdout.buffer.write("".join(f"{s}\t{t}\n" for s, t in rare[:count]).encode())
print(f"{min(count, len(rare))} of {len(rare)} pairs with a rare name", file=sys.stderr)
