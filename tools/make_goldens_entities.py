#!/usr/bin/env python3
"""Entity scores of seqeval on tags written or drawn here, for metrics/entities_test.

    python tools/make_goldens_entities.py [--out tests/metrics/entities.json]

needs: seqeval. Seeded: the same seqeval gives the same file.
"""
import argparse
import json
import random
import warnings
from importlib.metadata import version

from seqeval.metrics import accuracy_score
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as lenient
from seqeval.metrics.v1 import precision_recall_fscore_support as strict
from seqeval.scheme import IOB2

warnings.simplefilter("ignore")

# What breaks scorers: I- without B-, types that change inside, neighbours, sentence ends, dashes.
BY_HAND = [
    (["I-PER", "I-PER", "O"], ["B-PER", "I-PER", "O"]),
    (["O", "I-PER", "O"], ["O", "O", "O"]),
    (["B-PER", "I-LOC", "O"], ["B-PER", "I-PER", "O"]),
    (["B-PER", "B-PER"], ["B-PER", "I-PER"]),
    (["I-PER", "B-PER", "I-PER"], ["B-PER", "B-PER", "I-PER"]),
    (["B-PER", "O", "I-PER"], ["B-PER", "I-PER", "I-PER"]),
    (["B-a-b", "I-a-b"], ["B-a-b", "I-a-c"]),
    (["B-PER"], ["B-PER"]),
    (["O"], ["O"]),
    (["B", "I", "O"], ["B", "I", "I"]),
    (["B-", "I-"], ["B-", "B-"]),
    (["B-größe", "I-größe", "O"], ["B-größe", "O", "O"]),
    (["O", "O", "B-LOC"], ["O", "B-LOC", "I-LOC"]),
    (["B-PER", "I-PER", "I-PER"], ["B-PER", "I-PER", "O"]),
]
ONLY_LENIENT = [
    (["S-PER", "B-LOC", "E-LOC", "O"], ["S-PER", "B-LOC", "I-LOC", "O"]),
    (["B-LOC", "E-LOC", "E-LOC", "I-LOC"], ["B-LOC", "E-LOC", "S-LOC", "S-LOC"]),
    (["E-PER", "S-PER", "I-PER", "B-PER"], ["E-PER", "E-PER", "I-PER", "I-PER"]),
    (["NOUN", "VERB", "Other", "."], ["NOUN", "NOUN", "VERB", "."]),
    (["B-PER", "S-LOC", "E-PER"], ["B-PER", "I-PER", "E-PER"]),
]


def scores(function, wanted, found, **more):
    out = {}
    for average in ("micro", "macro", "weighted"):
        p, r, f, n = function(wanted, found, average=average, **more)
        out[average] = [float(p), float(r), float(f), int(n)]
    p, r, f, n = function(wanted, found, average=None, **more)
    out["each"] = [[float(x) for x in p], [float(x) for x in r], [float(x) for x in f], [int(x) for x in n]]
    return out


def case(wanted, found, with_strict=True):
    c = {"wanted": wanted, "predicted": found, "accuracy": float(accuracy_score(wanted, found)),
         "types": sorted({t for t, _, _ in get_entities(wanted)} | {t for t, _, _ in get_entities(found)}),
         "entities": [[t, int(a), int(b)] for t, a, b in get_entities(found[0])]}
    if c["types"]:
        c["lenient"] = scores(lenient, wanted, found)
    if with_strict:
        try:
            c["strict"] = scores(strict, wanted, found, scheme=IOB2)
            if not c["strict"]["each"][0]:
                del c["strict"]
        except ZeroDivisionError:
            pass
    return c


def drawn(rng, types, sentences, letters):
    wanted, found = [], []
    for _ in range(sentences):
        n = rng.randint(1, 14)
        tag = lambda: "O" if rng.random() < 0.4 else rng.choice(letters) + "-" + rng.choice(types)
        gold = [tag() for _ in range(n)]
        wanted.append(gold)
        found.append([t if rng.random() < 0.7 else tag() for t in gold])
    return wanted, found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--out", default="tests/metrics/entities.json")
    out = arguments.parse_args().out
    rng = random.Random(5)
    cases = [case([w], [p]) for w, p in BY_HAND] + [case([w], [p], False) for w, p in ONLY_LENIENT]
    cases.append(case([w for w, _ in BY_HAND], [p for _, p in BY_HAND]))
    for types in (["PER"], ["PER", "LOC"], list("abcdefg"), ["t%d" % i for i in range(11)]):
        for sentences in (1, 3, 25):
            cases.append(case(*drawn(rng, types, sentences, "BI")))
        cases.append(case(*drawn(rng, types, 10, "BIES"), False))
    cases.append(case(*drawn(rng, ["t%d" % i for i in range(150)], 150, "BI")))
    with open(out, "w") as f:
        json.dump({"made_by": "tools/make_goldens_entities.py", "seqeval": version("seqeval"), "cases": cases}, f,
                  ensure_ascii=False, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
