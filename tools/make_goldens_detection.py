#!/usr/bin/env python3
"""Makes tests/metrics/coco.json: the 12 figures of pycocotools' COCOeval on random cases, which the test
draws again by the same rule (a linear congruential generator), so that only the figures are stored.

usage: tools/make_goldens_detection.py [OUT]        needs numpy, pycocotools (versions are recorded)
"""
import contextlib
import importlib.metadata
import io
import json
import os
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "metrics", "coco.json")
CASES = 300


class Draw:
    """Knuth's MMIX generator; the high bits."""

    def __init__(self, seed):
        self.x = seed

    def below(self, n):
        self.x = (self.x * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.x >> 33) % n


def case(seed):
    """Pictures with wanted and found boxes, as lists of numbers; the test has the same function."""
    d = Draw(seed)
    categories = 1 + d.below(3)
    pictures = []
    for _ in range(1 + d.below(5)):
        wanted, found = [], []
        for _ in range(d.below(9)):
            side = (8, 40, 120)[d.below(3)]
            x, y, w, h = d.below(200) / 2, d.below(200) / 2, 1 + d.below(side), 1 + d.below(side)
            area = w * h * (0.5 + d.below(100) / 200)
            wanted.append((x, y, w, h, area, d.below(categories), d.below(10) == 0))
        for _ in range(d.below(14)):
            if wanted and d.below(3):
                x, y, w, h, _, c, _ = wanted[d.below(len(wanted))]
                x, y, w, h = x + d.below(9) / 4 - 1, y + d.below(9) / 4 - 1, w + d.below(5) / 4, h + d.below(5) / 4
                if d.below(6) == 0:
                    c = d.below(categories)
            else:
                side = (8, 40, 120)[d.below(3)]
                x, y, w, h, c = d.below(200) / 2, d.below(200) / 2, 1 + d.below(side), 1 + d.below(side), d.below(categories)
            found.append((x, y, w, h, d.below(20) / 20, c))  # few different scores: ties
        pictures.append((wanted, found))
    return categories, pictures


def figures(seed):
    categories, pictures = case(seed)
    images = [{"id": i + 1} for i in range(len(pictures))]
    annotations, results = [], []
    for i, (wanted, found) in enumerate(pictures):
        for x, y, w, h, area, c, crowd in wanted:
            annotations.append({"id": len(annotations) + 1, "image_id": i + 1, "category_id": c + 1, "bbox": [x, y, w, h],
                                "area": area, "iscrowd": int(crowd)})
        for x, y, w, h, score, c in found:
            results.append({"image_id": i + 1, "category_id": c + 1, "bbox": [x, y, w, h], "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {"images": images, "annotations": annotations, "categories": [{"id": c + 1} for c in range(categories)], "info": {}}
        truth.createIndex()
        if not results:
            return None
        ev = COCOeval(truth, truth.loadRes(results), "bbox")
        ev.evaluate()
        ev.accumulate()
        ev.summarize()
    return [float(v) for v in ev.stats]


def main():
    rows = [figures(seed) for seed in range(CASES)]
    with open(OUT, "w") as f:
        json.dump({"pycocotools": importlib.metadata.version("pycocotools"), "figures": rows}, f)
    print(CASES, "cases,", sum(r is None for r in rows), "without boxes found")


main()
