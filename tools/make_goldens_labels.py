#!/usr/bin/env python3
"""Writes tests/metrics/label_sets.json: scores of several labels for each text and calibration errors, as
scikit-learn computes them. Usage: make_goldens_labels.py [OUT]"""
import json
import os
import random
import sys

import numpy as np
import sklearn
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def set_cases(r):
    # at least two labels: a table of one column is another kind of problem to scikit-learn
    cases = [([["a"]], [["b"]]), ([[]], [["a", "b"]]), ([["a"], []], [[], ["b"]]), ([["a", "b"]], [["b", "a"]]),
             ([["a"], ["b"]], [["a", "b"], []])]
    for _ in range(30):
        labels = r.sample(["neg", "pos", "é", "北", "zz", "a b", "O", "x|y"], r.randint(2, 8))
        n = r.choice([1, 3, 20, 100])
        wanted = [r.sample(labels, r.randint(0, len(labels))) for _ in range(n)]
        predicted = [[l for l in labels if (l in w) == (r.random() < 0.7)] for w in wanted]
        if len({l for labels in wanted + predicted for l in labels}) > 1:
            cases.append((predicted, wanted))
    return cases


def scored(predicted, wanted):
    binary = MultiLabelBinarizer().fit(predicted + wanted)
    w, p = binary.transform(wanted), binary.transform(predicted)

    def shares(average):
        found = precision_recall_fscore_support(w, p, average=average, zero_division=0)[:3]
        return [list(map(float, x)) if average is None else float(x) for x in found]

    return dict(predicted=predicted, wanted=wanted, labels=list(binary.classes_),
                accuracy=float(accuracy_score(w, p)), micro=shares("micro"), macro=shares("macro"), each=shares(None))


def calibrated(probabilities, right, bins):
    p, r = np.array(probabilities), np.array(right)
    true, told = calibration_curve(r, p, n_bins=bins)
    # scikit-learn leaves the sizes of its bins out of its answer: they are found by its own rule
    at = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p)
    share = np.array([c for c in np.bincount(at, minlength=bins) if c]) / len(p)
    return dict(probabilities=probabilities, right=right, bins=bins,
                error=float(sum(s * abs(t - q) for s, t, q in zip(share, true, told))))


def main():
    r = random.Random(1764)
    out = dict(sklearn=sklearn.__version__, sets=[scored(*c) for c in set_cases(r)], calibration=[])
    for bins in (1, 2, 10, 10, 15, 20):
        for n in (2, 7, 100):
            p = [r.choice([r.random(), r.random() ** 0.2, r.randint(0, bins) / bins]) for _ in range(n)]
            out["calibration"].append(calibrated(p, [int(r.random() < x) for x in p[:-2]] + [0, 1], bins))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "tests", "metrics", "label_sets.json")
    with open(path, "w") as f:
        json.dump(out, f, ensure_ascii=False, indent=0)
        f.write("\n")


main()
