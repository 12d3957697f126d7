#!/usr/bin/env python3
"""Draws pairs from a sorted file, for runs beside a peer: draw_pairs.py train.tsv.gz 50000 > pairs.tsv

The same lines for the same seed, whatever the Python (random.Random is the same since 3.2). `fovea train --limit`
draws too, but from a file both programs can read the data is the same beyond doubt.
"""
import gzip
import random
import sys

path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
    lines = f.read().split(b"\n")[:-1]
random.Random(seed).shuffle(lines)
sys.stdout.buffer.write(b"\n".join(lines[:count]) + b"\n")
