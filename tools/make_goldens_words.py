#!/usr/bin/env python3
"""Writes tests/goldens/word_models.json: single-head, cnn, rnn, lstm and label-query, computed by PyTorch from drawn weights.
Usage: make_goldens_words.py [OUT]"""
import json
import os
import sys

import torch
import torch.nn.functional as F

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
V, E, H, R, C = 11, 6, 8, 3, 3
TEXTS = [[3, 4, 5, 6, 7, 8, 9], [1], [10, 2], [5, 5, 4, 3]]


def drawn(*shape):
    return torch.randn(*shape, dtype=torch.float64).mul(0.5).float().double()


def single_head(p, x, heads):
    q, k, v = (F.linear(x, p[f"encoder.{n}_proj.weight"], p[f"encoder.{n}_proj.bias"]) for n in "qkv")
    split = [t.view(len(x), heads, H // heads).transpose(0, 1) for t in (q, k, v)]
    return F.scaled_dot_product_attention(*split).transpose(0, 1).reshape(len(x), H)


def cnn(p, x):
    out = []
    for i, k in enumerate((2, 3, 4, 5)):
        padded = F.pad(x.T[None], (k // 2, (k - 1) // 2))
        out.append(F.conv1d(padded, p[f"encoder.windows.{i}.weight"], p[f"encoder.windows.{i}.bias"]).relu()[0].T)
    return torch.cat(out, 1)


def recurrent(kind, p, x):
    cell = kind(E, R, 2, bidirectional=True).double()
    cell.load_state_dict({n.removeprefix("encoder."): t for n, t in p.items() if n.startswith("encoder.")})
    return cell(x)[0].detach()


def recurrent_weights(gates):
    return {f"encoder.{n}_l{layer}{way}": drawn(gates * R, *s) for layer in (0, 1) for way in ("", "_reverse")
            for n, s in (("weight_ih", (2 * R if layer else E,)), ("weight_hh", (R,)), ("bias_ih", ()), ("bias_hh", ()))}


def label_query(p, x):
    mixed = torch.softmax(p["pooling.query"] @ x.T / E ** 0.5, 1) @ x  # [classes, E]
    return (mixed * p["classifier.weight"]).sum(1) + p["classifier.bias"]


def main():
    torch.manual_seed(2014)
    table = drawn(V, E)
    proj = {f"encoder.{n}_proj.{w}": drawn(*s) for n in "qkv" for w, s in (("weight", (H, E)), ("bias", (H,)))}
    windows = {f"encoder.windows.{i}.{w}": drawn(*s) for i, k in enumerate((2, 3, 4, 5))
               for w, s in (("weight", (H, E, k)), ("bias", (H,)))}
    queries = {"pooling.query": drawn(C, E), "classifier.weight": drawn(C, E), "classifier.bias": drawn(C)}
    common = dict(vocab_size=V, embedding_size=E, hidden_size=H, max_position_embeddings=16, dropout=0.0)
    cases = [
        (dict(model_type="fovea_single_head", num_attention_heads=1), proj, lambda p, x: single_head(p, x, 1)),
        (dict(model_type="fovea_single_head", num_attention_heads=4), proj, lambda p, x: single_head(p, x, 4)),
        (dict(model_type="fovea_convolution", window_sizes=[2, 3, 4, 5]), windows, cnn),
        (dict(model_type="fovea_gru_words", hidden_size=R, num_hidden_layers=2), recurrent_weights(3),
         lambda p, x: recurrent(torch.nn.GRU, p, x)),
        (dict(model_type="fovea_lstm_words", hidden_size=R, num_hidden_layers=2), recurrent_weights(4),
         lambda p, x: recurrent(torch.nn.LSTM, p, x)),
        (dict(model_type="fovea_label_query", pooling="queries"), queries, label_query)]
    out = dict(torch=torch.__version__, texts=TEXTS, cases=[])
    for config, own, rows in cases:
        p = {"embeddings.weight": table, **own}
        want = [rows(p, table[torch.tensor(t)]).flatten().tolist() for t in TEXTS]
        out["cases"].append(dict(config={**common, **config}, rows=want, parameters={
            n: dict(shape=list(t.shape), values=t.flatten().tolist()) for n, t in p.items()}))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "tests", "goldens", "word_models.json")
    with open(path, "w") as f:
        json.dump(out, f)
        f.write("\n")


main()
