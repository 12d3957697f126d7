#!/usr/bin/env python3
"""Loss, gradients and best paths of linear-chain CRFs, for ops/crf_test.

    python tools/make_goldens_crf.py [--out tests/goldens/crf.json]

needs: torch. Written for this purpose alone, and unlike Fovea's: padded batches with masks, sums
by logsumexp over all pairs of tags, gradients by torch's autograd in double, the best path by a
table of maxima. Seeded: the same torch gives the same file.
"""
import argparse
import json

import torch


def chain(e, lengths, pairs, start, end, reduce):
    """The recursion over padded [batch, time, tags]; `reduce` is logsumexp or max over dim."""
    a = start + e[:, 0]
    for t in range(1, e.shape[1]):
        new = reduce(a[:, :, None] + pairs, 1) + e[:, t]
        a = torch.where((t < lengths)[:, None], new, a)
    return reduce(a + end, 1)


def gold_score(e, gold, pairs, start, end):
    score = start[gold[0]] + end[gold[-1]]
    for t, tag in enumerate(gold):
        score = score + e[t, tag]
        if t:
            score = score + pairs[gold[t - 1], tag]
    return score


def best_path(e, pairs, start, end):
    v, back = start + e[0], []
    for t in range(1, len(e)):
        v, i = (v[:, None] + pairs).max(0)
        back.append(i)
        v = v + e[t]
    path = [int((v + end).argmax())]
    for i in reversed(back):
        path.append(int(i[path[-1]]))
    return path[::-1]


def one_case(rng, tags, lengths, ordered, scale):
    k, total = tags, sum(lengths)
    draw = lambda *shape: (torch.randn(*shape, generator=rng, dtype=torch.float32) * scale).double()
    e, pairs, start, end = draw(total, k), draw(k, k), draw(k), draw(k)
    order = None
    forbid = lambda x, allowed: x.masked_fill(allowed == 0, float("-inf"))
    if ordered:
        order = {"start": torch.ones(k, dtype=torch.int64), "end": torch.ones(k, dtype=torch.int64),
                 "pairs": (torch.rand(k, k, generator=rng) < 0.7).long()}
        order["start"][k - 1] = 0
        order["end"][0] = 0
        order["pairs"][:, 1] = 1  # never a dead end
        order["pairs"][1, :] = 1
    gold = []
    for n in lengths:
        path = []
        for t in range(n):
            fits = [j for j in range(k) if order is None or (
                (t > 0 or order["start"][j]) and (t + 1 < n or order["end"][j])
                and (t == 0 or order["pairs"][path[-1], j])
                and (t + 2 != n or any(order["pairs"][j, m] and order["end"][m] for m in range(k))))]
            path.append(fits[int(torch.randint(len(fits), (1,), generator=rng))])
        gold.append(path)
    leaves = [x.requires_grad_() for x in (e, pairs, start, end)]
    p, s, f = (pairs, start, end) if order is None else (
        forbid(pairs, order["pairs"]), forbid(start, order["start"]), forbid(end, order["end"]))
    rows = torch.split(e, lengths)
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    z = chain(padded, torch.tensor(lengths), p, s, f, torch.logsumexp)
    loss = z - torch.stack([gold_score(r, g, p, s, f) for r, g in zip(rows, gold)])
    loss.sum().backward()
    flat = lambda x: [float(v) for v in x.detach().flatten()]
    short = lambda x: [float(f"{v:.9g}") for v in flat(x)]
    out = {"tags": k, "lengths": lengths, "gold": sum(gold, []), "loss": short(loss),
           "best": sum((best_path(r.detach(), p.detach(), s.detach(), f.detach()) for r in rows), []),
           "order": None if order is None else {n: v.flatten().tolist() for n, v in order.items()}}
    for name, leaf in zip(("emissions", "pairs", "start", "end"), leaves):
        out[name] = short(leaf)
        out["d_" + name] = short(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad)
    return out


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--out", default="tests/goldens/crf.json")
    out = arguments.parse_args().out
    rng = torch.Generator().manual_seed(20)
    shapes = [(2, [1], False, 1), (3, [4, 1, 7], False, 1), (5, [2, 9, 3, 1], False, 2), (9, [12, 5], False, 1),
              (4, [6, 2, 1], True, 1), (7, [3, 11, 4], True, 2), (17, [8], True, 1), (3, [30], False, 8)]
    cases = [one_case(rng, *shape) for shape in shapes]
    with open(out, "w") as f:
        json.dump({"made_by": "tools/make_goldens_crf.py", "torch": torch.__version__, "cases": cases}, f)
        f.write("\n")


if __name__ == "__main__":
    main()
