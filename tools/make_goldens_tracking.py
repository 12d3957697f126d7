#!/usr/bin/env python3
"""Writes tests/metrics/tracking.json: random sequences of true and found boxes, and what
py-motmetrics counts of them.   tools/make_goldens_tracking.py > tests/metrics/tracking.json"""
import json
import random
import sys

import motmetrics
import numpy as np

NAMES = ["num_frames", "num_objects", "num_predictions", "num_matches", "num_switches", "num_misses",
         "num_false_positives", "num_fragmentations", "mota", "motp", "idtp", "idf1", "idp", "idr",
         "precision", "recall"]


def sequence(rng):
    """Boxes that move; found ones are shaken, lost, added, and change their names now and then."""
    objects = rng.randint(0, 5)
    at = [[rng.uniform(0, 40), rng.uniform(0, 40), rng.uniform(6, 12), rng.uniform(6, 12)] for _ in range(objects)]
    names = [100 + i for i in range(objects)]
    lost, wrong, renamed = rng.choice([0, 0.1, 0.4]), rng.choice([0, 0.3]), rng.choice([0, 0.2])
    new = 200
    frames = []
    for _ in range(rng.randint(1, 8)):
        true, found = [], []
        for i, box in enumerate(at):
            box[0] += rng.uniform(-2, 2)
            box[1] += rng.uniform(-2, 2)
            if rng.random() < 0.1:
                continue
            true.append([i + 1] + [round(v, 2) for v in box])
            if rng.random() < lost:
                continue
            if rng.random() < renamed:
                if objects > 1 and rng.random() < 0.5:  # two swap their names
                    j = rng.randrange(objects)
                    names[i], names[j] = names[j], names[i]
                else:
                    names[i], new = new, new + 1
            if any(f[0] == names[i] for f in found):
                continue
            found.append([names[i]] + [round(v + rng.uniform(-1, 1), 2) for v in box])
        if rng.random() < wrong:
            found.append([new] + [round(rng.uniform(0, 40), 2), round(rng.uniform(0, 40), 2), 8.0, 8.0])
            new += rng.randint(0, 1)
        frames.append({"true": true, "found": found})
    return frames


def distance(a, b):
    """1 - IoU of boxes (id, x, y, width, height); none beyond one half."""
    across = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    down = min(a[2] + a[4], b[2] + b[4]) - max(a[2], b[2])
    if across <= 0 or down <= 0:
        return np.nan
    both = across * down
    iou = both / (a[3] * a[4] + b[3] * b[4] - both)
    return 1 - iou if iou >= 0.5 else np.nan


def measured(frames):
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for frame in frames:
        true, found = frame["true"], frame["found"]
        distances = [[distance(t, f) for f in found] for t in true]
        accumulator.update([b[0] for b in true], [b[0] for b in found], distances)
    summary = motmetrics.metrics.create().compute(accumulator, metrics=NAMES, return_dataframe=False)
    return {n: (None if not np.isfinite(summary[n]) else float(summary[n])) for n in NAMES}


def main():
    rng = random.Random(15)
    cases = []
    for _ in range(120):
        frames = sequence(rng)
        cases.append({"frames": frames, "want": measured(frames)})
    json.dump({"motmetrics": motmetrics.__version__, "cases": cases}, sys.stdout, separators=(",", ":"))
    print()


main()
