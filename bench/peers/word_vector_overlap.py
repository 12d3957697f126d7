#!/usr/bin/env python3
"""How many of the ten nearest words two files of word vectors share, on average over frequent words.

usage: word_vector_overlap.py A.vec B.vec [C.vec ...]   prints each pair of files and its overlap in 0 … 1

Words are those that all files have, the 2000 first of A without its very first 100 (words of no meaning of
their own); neighbours are by cosine among the words that all files have.
"""
import sys

import numpy as np


def read(path):
    with open(path, encoding="utf-8") as f:
        count, dim = map(int, f.readline().split())
        words, rows = [], np.empty((count, dim), np.float32)
        for i, line in enumerate(f):
            word, *values = line.rstrip().split(" ")
            words.append(word)
            rows[i] = np.array(values, np.float32)
    return words, rows


def neighbours(rows, asked, count=10):
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    scores = unit[asked] @ unit.T
    scores[np.arange(len(asked)), asked] = -2
    return [set(r) for r in np.argpartition(-scores, count, axis=1)[:, :count]]


def main():
    files = [read(p) for p in sys.argv[1:]]
    shared = set(files[0][0])
    for words, _ in files[1:]:
        shared &= set(words)
    order = [w for w in files[0][0] if w in shared]
    near = []
    for words, rows in files:
        at = {w: i for i, w in enumerate(words)}
        near.append(neighbours(rows[[at[w] for w in order]], np.arange(100, min(2100, len(order)))))
    for i in range(len(files)):
        for j in range(i):
            overlap = np.mean([len(a & b) / 10 for a, b in zip(near[i], near[j])])
            print(f"{sys.argv[1 + j]} {sys.argv[1 + i]} {overlap:.4f}")


main()
