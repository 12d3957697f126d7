#!/usr/bin/env python3
"""Exact match and F1 of answers as the official scripts of SQuAD 1.1 and 2.0 define them, and the best
bounds of "no answer", for metrics/answers_test.

    python tools/make_goldens_answers.py [--out tests/metrics/answers.json]

The rules are written out here once more, from their publication (Rajpurkar et al. 2016, section 6.1;
2018, section 5; the scripts' documented behaviour), by other means than the C++ code: Python's own
lower(), split(), \\b and Counter. Needs nothing but Python; seeded: the same Python gives the same file.
"""
import argparse
import collections
import json
import platform
import random
import re
import string

ARTICLE = re.compile(r"\b(?:a|an|the)\b")
NO_PUNCTUATION = {ord(c): None for c in string.punctuation}


def plain(text):
    return " ".join(ARTICLE.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def overlap(said, gold, two):
    a, b = plain(said).split(), plain(gold).split()
    if two and not (a and b):
        return float(a == b)
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    if same == 0:
        return 0.0
    p, r = same / len(a), same / len(b)
    return (2 * p * r) / (p + r)


def judge(said, golds, two):
    if two:
        golds = [g for g in golds if plain(g)] or [""]
    exact = max((float(plain(said) == plain(g)) for g in golds), default=0.0)
    return exact, max((overlap(said, g, two) for g in golds), default=0.0)


def best_bound(scores, said, none, golds):
    now = sum(not g for g in golds)
    best, bound = now, 0.0
    for i in sorted(range(len(said)), key=none.__getitem__):
        if golds[i]:
            now += scores[i]
        elif said[i]:
            now -= 1
        if now > best:
            best, bound = now, none[i]
    return [100.0 * best / len(said), bound]


BY_HAND = [
    ("Denver Broncos", ["Denver Broncos", "the Denver Broncos", "Broncos"]),
    ("The Denver  Broncos!", ["denver broncos"]),
    ("", ["Denver"]),
    ("Denver", []),
    ("", []),
    ("the", ["a"]),
    ("the", [""]),
    ("the", []),
    ("A. an, THE", ["..."]),
    ("theatre", ["the atre"]),
    ("a-b", ["ab"]),
    ("a–b", ["b"]),
    ("another an other", ["another other"]),
    ("$5,000.50", ["500050"]),
    ("1,000 1,000", ["1,000"]),
    ("x x y", ["x y y"]),
    ("ΟΔΟΣ", ["οδος"]),
    ("İstanbul", ["i̇stanbul"]),
    ("STRASSE", ["straße"]),
    ("thé", ["th"]),
    ("á", [""]),
    ("the_end", ["theend"]),
    ("a\xa0cat", ["cat"]),
    ("cat\u3000sat", ["cat sat"]),
    ("\x1ccat\x1f", ["cat"]),
    ("cat\u200bsat", ["cat sat"]),
    ("“the” end", ["end"]),
    ("«an» end", ["«» end"]),
    ("中文 a 中文", ["中文 中文"]),
    ("中文a中文", ["中文 中文"]),
    ("a²", ["²"]),
    ("½ the ½", ["½ ½"]),
    ("A̲", ["̲"]),
    ("the the the", ["a"]),
    ("...", ["!!!"]),
    ("Ⅷ", ["ⅷ"]),
    ("🎉 the 🎉", ["🎉 🎉"]),
]
WORDS = ["the", "a", "an", "cat", "sat", "Mat", "on", "1,000", "U.S.", "é", "(big)", "-", "Cat's", ""]


def drawn(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="tests/metrics/answers.json")
    args = parser.parse_args()
    rng = random.Random(13)
    cases = BY_HAND + [(drawn(rng), [drawn(rng) for _ in range(rng.randrange(4))]) for _ in range(150)]
    out = {"python": platform.python_version(), "cases": [], "bounds": []}
    for said, golds in cases:
        out["cases"].append({"said": said, "golds": golds, "plain": plain(said),
                             "one": judge(said, golds, False), "two": judge(said, golds, True)})
    said, golds = [c[0] for c in cases], [c[1] for c in cases]
    for name, two in (("one", False), ("two", True)):
        sums = [judge(s, g, two) for s, g in zip(said, golds)]
        out["all_" + name] = [100.0 * sum(x[k] for x in sums) / len(sums) for k in (0, 1)]
    for n in (1, 5, 40, len(cases)):
        for few in (False, True):  # few different values: ties keep their order
            part = rng.sample(cases, n)
            none = [float(rng.randrange(3)) if few else rng.uniform(-5, 5) for _ in part]
            s, g = [c[0] for c in part], [c[1] for c in part]
            sums = [judge(a, b, True) for a, b in part]
            out["bounds"].append({"said": s, "golds": g, "none": none,
                                  "exact": best_bound([x[0] for x in sums], s, none, g),
                                  "f1": best_bound([x[1] for x in sums], s, none, g)})
    with open(args.out, "w") as f:
        json.dump(out, f, ensure_ascii=False)
        f.write("\n")
    print(len(out["cases"]), "cases")


if __name__ == "__main__":
    main()
