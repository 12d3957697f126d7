#!/usr/bin/env python3
"""The same Transformer in PyTorch, on the same batches: the peer of `fovea bench train` and of docs/results.md.

    fovea train … --dry-run --dump DIR      writes DIR/config.json, init.safetensors, examples.jsonl, plan.jsonl
    transformer_torch.py DIR [--steps N] [--dropout P] [--bf16] [--lr 1e-3 --warmup 1000] [--save OUT.safetensors] [--losses OUT.txt]

Best setting for PyTorch: length-bucketed batches (as planned), scaled_dot_product_attention, fused projections left to
it, as many threads as cores. Prints one JSON object: tokens per second (real target tokens), seconds, peak memory.
"""
import argparse
import json
import math
import os
import resource
import sys
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file


class Model(torch.nn.Module):
    def __init__(self, config, weights, dropout):
        super().__init__()
        self.c, self.p_drop = config, dropout
        self.w = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v.clone()) for k, v in weights.items()})

    def p(self, name):
        return self.w[name.replace(".", "/")]

    def positions(self, n):
        d = self.c["d_model"]
        pos = torch.arange(n, dtype=torch.float64)[:, None]
        freq = torch.pow(torch.tensor(10000.0, dtype=torch.float64), -2.0 * torch.arange((d + 1) // 2, dtype=torch.float64) / d)
        out = torch.zeros(n, d, dtype=torch.float64)
        out[:, 0::2] = torch.sin(pos * freq)
        out[:, 1::2] = torch.cos(pos * freq)[:, : d // 2]
        return out.float()

    def embed(self, ids):
        x = F.embedding(ids, self.p("model.shared.weight")) * math.sqrt(self.c["d_model"]) + self.positions(ids.shape[1])
        return F.dropout(x, self.p_drop, self.training)

    def attend(self, path, x, memory, mask, causal, heads):
        def split(t):
            return t.view(t.shape[0], t.shape[1], heads, -1).transpose(1, 2)
        lin = lambda n, t: F.linear(t, self.p(f"{path}.{n}.weight"), self.p(f"{path}.{n}.bias"))
        q, k, v = split(lin("q_proj", x)), split(lin("k_proj", memory)), split(lin("v_proj", memory))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return lin("out_proj", y.transpose(1, 2).flatten(2))

    def norm(self, path, x):
        return F.layer_norm(x, (x.shape[-1],), self.p(path + ".weight"), self.p(path + ".bias"), 1e-5)

    def residual(self, path, x, y):
        return self.norm(path, x + F.dropout(y, self.p_drop, self.training))

    def ffn(self, path, x):
        h = F.relu(F.linear(x, self.p(path + ".fc1.weight"), self.p(path + ".fc1.bias")))
        return F.linear(h, self.p(path + ".fc2.weight"), self.p(path + ".fc2.bias"))

    def forward(self, source, source_mask, inputs):
        heads = self.c["encoder_attention_heads"]
        mask = None if source_mask.all() else source_mask[:, None, None, :]
        x = self.embed(source)
        for i in range(self.c["encoder_layers"]):
            p = f"model.encoder.layers.{i}"
            x = self.residual(p + ".self_attn_layer_norm", x, self.attend(p + ".self_attn", x, x, mask, False, heads))
            x = self.residual(p + ".final_layer_norm", x, self.ffn(p, x))
        y = self.embed(inputs)
        for i in range(self.c["decoder_layers"]):
            p = f"model.decoder.layers.{i}"
            y = self.residual(p + ".self_attn_layer_norm", y, self.attend(p + ".self_attn", y, y, None, True, heads))
            y = self.residual(p + ".encoder_attn_layer_norm", y, self.attend(p + ".encoder_attn", y, x, mask, False, heads))
            y = self.residual(p + ".final_layer_norm", y, self.ffn(p, y))
        return y

    def loss(self, batch, smoothing):
        y = self(batch["source"], batch["mask"], batch["input"])
        keep = batch["labels"] >= 0
        logits = F.linear(y[keep], self.p("model.shared.weight"))
        return F.cross_entropy(logits, batch["labels"][keep], label_smoothing=smoothing)


def pad(rows, value):
    n = max(map(len, rows))
    return torch.tensor([r + [value] * (n - len(r)) for r in rows])


def batch_of(examples, indices, start):
    sources = [examples[i][0] for i in indices]
    targets = [examples[i][1] for i in indices]
    return {"source": pad(sources, 0), "mask": pad([[1] * len(s) for s in sources], 0).bool(),
            "input": pad([[start] + t[:-1] for t in targets], 0), "labels": pad(targets, -100),
            "tokens": sum(map(len, targets))}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("folder")
    a.add_argument("--steps", type=int, default=0)
    a.add_argument("--seconds", type=float, default=0)
    a.add_argument("--dropout", type=float, default=0.0)
    a.add_argument("--smoothing", type=float, default=0.1)
    a.add_argument("--lr", type=float, default=1e-3)
    a.add_argument("--warmup", type=int, default=1000)
    a.add_argument("--clip", type=float, default=1.0)
    a.add_argument("--threads", type=int, default=0)
    a.add_argument("--bf16", action="store_true")
    a.add_argument("--save")
    a.add_argument("--losses")
    a.add_argument("--progress", type=int, default=0, help="a line every so many steps")
    a = a.parse_args()
    torch.manual_seed(1)
    if a.threads:
        torch.set_num_threads(a.threads)
    with open(os.path.join(a.folder, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(a.folder, "examples.jsonl")) as f:
        examples = [json.loads(line) for line in f]
    with open(os.path.join(a.folder, "plan.jsonl")) as f:
        plan = [json.loads(line) for line in f]
    if a.steps:
        plan = plan[: a.steps]
    model = Model(config, load_file(os.path.join(a.folder, "init.safetensors")), a.dropout)
    model.train()
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0)
    losses, tokens, best, start = [], 0, 0.0, time.time()
    for step, indices in enumerate(plan, 1):
        batch = batch_of(examples, indices, config["decoder_start_token_id"])
        t0 = time.time()
        rate = a.lr * step / a.warmup if step < a.warmup else a.lr * math.sqrt(max(a.warmup, 1) / step)
        for g in opt.param_groups:
            g["lr"] = rate
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.bf16):
            loss = model.loss(batch, a.smoothing)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), a.clip)
        opt.step()
        losses.append(loss.item())
        tokens += batch["tokens"]
        best = max(best, batch["tokens"] / (time.time() - t0))
        if a.progress and step % a.progress == 0:
            print(f"step {step}/{len(plan)}  loss {losses[-1]:.4f}  {tokens / (time.time() - start):.0f} tokens/s", file=sys.stderr)
        if a.seconds and time.time() - start > a.seconds:
            break
    seconds = time.time() - start
    if a.losses:
        with open(a.losses, "w") as f:
            f.writelines(f"{x}\n" for x in losses)
    if a.save:
        save_file({k.replace("/", "."): v.detach().contiguous() for k, v in model.w.items()}, a.save, {"format": "pt"})
    print(json.dumps({"peer": "PyTorch " + torch.__version__, "steps": len(losses), "tokens": tokens, "seconds": seconds,
                      "tokens_per_second": tokens / seconds, "best_tokens_per_second": best, "last_loss": losses[-1],
                      "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


main()
