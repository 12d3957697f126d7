#!/usr/bin/env python3
"""Rows, last states and gradients of PyTorch's GRU and LSTM over packed sequences, for nn/recurrent_test.

    python tools/make_goldens_rnn.py [--out tests/goldens/rnn.json]

needs: torch (its version is recorded). Two layers, both directions, sequences of several lengths that are not
sorted, from given states; all in double from float32 values. The loss is Σ rows ∘ a + Σ last ∘ b with random a, b.
"""
import argparse
import json

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def one_case(kind, rng, lengths, size, hidden, layers, bidirectional):
    draw = lambda *shape: torch.randn(*shape, generator=rng, dtype=torch.float32).double()
    net = getattr(torch.nn, kind)(size, hidden, layers, bidirectional=bidirectional, batch_first=True).double()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(draw(*p.shape) * 0.5)
    directions = 2 if bidirectional else 1
    parts = 2 if kind == "LSTM" else 1
    x = draw(sum(lengths), size).requires_grad_()
    start = [draw(layers * directions, len(lengths), hidden).requires_grad_() for _ in range(parts)]
    padded = pad_sequence(torch.split(x, lengths), batch_first=True)
    packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    out, last = net(packed, tuple(start) if parts == 2 else start[0])
    out, _ = pad_packed_sequence(out, batch_first=True)
    rows = torch.cat([out[i, :n] for i, n in enumerate(lengths)])
    last = torch.cat(last, dim=2) if parts == 2 else last  # a state is h | c
    a, b = draw(*rows.shape), draw(*last.shape)
    ((rows * a).sum() + (last * b).sum()).backward()
    flat = lambda t: [float(f"{v:.9g}") for v in t.detach().flatten().tolist()]
    return {"kind": kind.lower(), "size": size, "hidden": hidden, "layers": layers, "bidirectional": bidirectional,
            "lengths": lengths, "x": flat(x), "start": flat(torch.cat(start, dim=2)),
            "rows": flat(rows), "last": flat(last), "a": flat(a), "b": flat(b),
            "dx": flat(x.grad), "dstart": flat(torch.cat([s.grad for s in start], dim=2)),
            "parameters": {n: {"shape": list(p.shape), "value": flat(p), "gradient": flat(p.grad)}
                           for n, p in net.named_parameters()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="tests/goldens/rnn.json")
    out = parser.parse_args().out
    rng = torch.Generator().manual_seed(5)
    cases = [one_case("GRU", rng, [3, 6, 1, 6], 3, 4, 2, True), one_case("LSTM", rng, [3, 6, 1, 6], 3, 4, 2, True),
             one_case("GRU", rng, [5, 2], 4, 5, 1, False), one_case("LSTM", rng, [2, 5], 4, 5, 3, False)]
    with open(out, "w") as f:
        json.dump({"made_by": f"torch {torch.__version__}", "cases": cases}, f)
        f.write("\n")


main()
