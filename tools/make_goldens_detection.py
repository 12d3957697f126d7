#!/usr/bin/env python3
"""Makes tests/metrics/coco.json: the 12 figures of pycocotools' COCOeval on random cases, which the test
draws again by the same rule (a linear congruential generator), so that only the figures are stored; and on the
test pictures of BCCD (blood cells, MIT licence), whose boxes are stored too, with boxes found near them by the
same rule.

usage: tools/make_goldens_detection.py BCCD_FOLDER [OUT]        needs numpy, pycocotools (versions are recorded)
"""
import contextlib
import importlib.metadata
import io
import json
import os
import sys
import xml.etree.ElementTree

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

BCCD = sys.argv[1]
OUT = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "tests", "metrics", "coco.json")
CASES = 1000


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


LABELS = ["Platelets", "RBC", "WBC"]


def bccd():
    """Boxes of the test pictures: [label, x, y, width, height], corners counted from 1 and inside."""
    with open(os.path.join(BCCD, "ImageSets", "Main", "test.txt")) as f:
        names = f.read().split()
    pictures = []
    for name in names:
        boxes = []
        for o in xml.etree.ElementTree.parse(os.path.join(BCCD, "Annotations", name + ".xml")).iter("object"):
            x0, y0, x1, y1 = (int(o.find("bndbox").find(k).text) for k in ("xmin", "ymin", "xmax", "ymax"))
            if x1 > x0 and y1 > y0:
                boxes.append([LABELS.index(o.find("name").text), x0 - 1, y0 - 1, x1 - x0 + 1, y1 - y0 + 1])
        pictures.append(boxes)
    return pictures


def bccd_case(boxes):
    """What a detector might find: most boxes, moved; some twice, some of another label, some anywhere."""
    d = Draw(7)
    pictures = []
    for own in boxes:
        wanted = [(x, y, w, h, w * h, c, False) for c, x, y, w, h in own]
        found = []
        for c, x, y, w, h in own:
            for _ in range(d.below(4) if d.below(3) == 0 else 1):
                label = d.below(3) if d.below(9) == 0 else c
                found.append((x + d.below(41) / 2 - 10, y + d.below(41) / 2 - 10, w + d.below(21), h + d.below(21),
                              d.below(1000) / 1000, label))
        for _ in range(d.below(5)):
            found.append((d.below(600), d.below(440), 10 + d.below(100), 10 + d.below(100), d.below(500) / 1000, d.below(3)))
        pictures.append((wanted, found))
    return 3, pictures


def figures(categories, pictures):
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
    return [round(float(v), 14) for v in ev.stats]


def main():
    rows = [figures(*case(seed)) for seed in range(CASES)]
    boxes = bccd()
    golden = {"pycocotools": importlib.metadata.version("pycocotools"), "figures": rows,
              "bccd": {"boxes": boxes, "figures": figures(*bccd_case(boxes))}}
    with open(OUT, "w") as f:
        json.dump(golden, f, separators=(",", ":"))
    print(CASES, "cases,", sum(r is None for r in rows), "without boxes found")


main()
