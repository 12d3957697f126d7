#!/usr/bin/env python3
"""The same Transformer in PyTorch, on the same batches: the peer of `fovea bench train` and of docs/results.md.

    fovea train … --dry-run --dump DIR      writes DIR/config.json, init.safetensors, examples.jsonl, plan.jsonl
    transformer_torch.py DIR [--steps N] [--dropout P] [--bf16] [--lr 1e-3 --warmup 1000] [--save OUT.safetensors] [--losses OUT.txt]

prints one JSON object: tokens per second (real target tokens), seconds, peak memory. Without a folder it serves
`fovea bench`: one line of JSON in, one out.

    {"do": "version"}                                                         -> {"torch": "2.x"}
    {"do": "open", "folder": DIR, "threads": N, "dropout": P, "smoothing": S, "bf16": B}
    {"do": "probe"}                         -> {"slowdown": seconds of a product in bf16 over f32}
    {"do": "run", "first": I, "steps": N}    N updates from batch I on        -> {"seconds": s, "tokens": n, "loss": l}
    {"do": "memory"}                                                          -> {"bytes": largest resident size}

Best setting for PyTorch: length-bucketed batches (as planned) made before the clock starts, scaled_dot_product_attention,
the fused AdamW, denormals flushed, position codes computed once.
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
from serve import serve


class Model(torch.nn.Module):
    def __init__(self, config, weights, dropout):
        super().__init__()
        self.c, self.p_drop = config, dropout
        self.table = torch.zeros(0, config["d_model"])
        self.w = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v.clone()) for k, v in weights.items()})

    def p(self, name):
        return self.w[name.replace(".", "/")]

    def positions(self, n):
        if n > len(self.table):
            self.table = self.codes(2 * n)
        return self.table[:n]

    def codes(self, n):
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


class Run:
    """A model, its optimizer and the planned batches."""

    def __init__(self, folder, dropout, smoothing, bf16, lr=1e-3, warmup=1000, clip=1.0):
        with open(os.path.join(folder, "config.json")) as f:
            self.config = json.load(f)
        with open(os.path.join(folder, "examples.jsonl")) as f:
            self.examples = [json.loads(line) for line in f]
        with open(os.path.join(folder, "plan.jsonl")) as f:
            self.plan = [json.loads(line) for line in f]
        self.smoothing, self.bf16, self.lr, self.warmup, self.clip = smoothing, bf16, lr, warmup, clip
        torch.manual_seed(1)
        torch.set_flush_denormal(True)
        self.model = Model(self.config, load_file(os.path.join(folder, "init.safetensors")), dropout)
        self.model.train()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0, fused=True)
        self.steps = 0

    def batch(self, index):
        return batch_of(self.examples, self.plan[index % len(self.plan)], self.config["decoder_start_token_id"])

    def update(self, batch):
        self.steps += 1
        step, warmup = self.steps, self.warmup
        rate = self.lr * step / warmup if step < warmup else self.lr * math.sqrt(max(warmup, 1) / step)
        for g in self.opt.param_groups:
            g["lr"] = rate
        self.opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            loss = self.model.loss(batch, self.smoothing)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.opt.step()
        return loss.item()


def peak_bytes():
    # Not ru_maxrss: a program started by vfork and exec inherits that of the program that started it.
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Server:
    run_ = None

    def version(self, _):
        return {"torch": torch.__version__.split("+")[0]}

    def open(self, job):
        torch.set_num_threads(job["threads"])
        self.run_ = Run(job["folder"], job["dropout"], job["smoothing"], job["bf16"])
        return {"batches": len(self.run_.plan)}

    def probe(self, _):
        def best(dtype):
            a, b = torch.ones(256, 512, dtype=dtype), torch.ones(512, 512, dtype=dtype)
            times = []
            for _ in range(4):
                start = time.perf_counter()
                a @ b
                times.append(time.perf_counter() - start)
            return min(times)
        return {"slowdown": best(torch.bfloat16) / best(torch.float32)}

    def run(self, job):
        batches = [self.run_.batch(i) for i in range(job["first"], job["first"] + job["steps"])]
        start = time.perf_counter()
        for batch in batches:
            loss = self.run_.update(batch)
        return {"seconds": time.perf_counter() - start, "tokens": sum(b["tokens"] for b in batches), "loss": loss}

    def memory(self, _):
        return {"bytes": peak_bytes()}


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
    if a.threads:
        torch.set_num_threads(a.threads)
    run = Run(a.folder, a.dropout, a.smoothing, a.bf16, a.lr, a.warmup, a.clip)
    steps = min(a.steps, len(run.plan)) if a.steps else len(run.plan)
    losses, tokens, best, start = [], 0, 0.0, time.time()
    for index in range(steps):
        batch = run.batch(index)
        t0 = time.time()
        losses.append(run.update(batch))
        tokens += batch["tokens"]
        best = max(best, batch["tokens"] / (time.time() - t0))
        if a.progress and run.steps % a.progress == 0:
            print(f"step {run.steps}/{steps}  loss {losses[-1]:.4f}  {tokens / (time.time() - start):.0f} tokens/s", file=sys.stderr)
        if a.seconds and time.time() - start > a.seconds:
            break
    seconds = time.time() - start
    if a.losses:
        with open(a.losses, "w") as f:
            f.writelines(f"{x}\n" for x in losses)
    if a.save:
        save_file({k.replace("/", "."): v.detach().contiguous() for k, v in run.model.w.items()}, a.save, {"format": "pt"})
    print(json.dumps({"peer": "PyTorch " + torch.__version__, "steps": len(losses), "tokens": tokens, "seconds": seconds,
                      "tokens_per_second": tokens / seconds, "best_tokens_per_second": best, "last_loss": losses[-1],
                      "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else serve(Server())
