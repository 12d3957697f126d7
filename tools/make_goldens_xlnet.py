#!/usr/bin/env python3
"""Makes tests/goldens/xlnet-tiny: a tiny random-weight XLNet of Hugging Face transformers, and what it gives (in float64):
every head on the content stream, the query stream under permutation masks, with and without memory, the language model from
left to right, losses, gradients, ten AdamW steps; and greedy generation (float32), with and without mems.

usage: tools/make_goldens_xlnet.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import os
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import (XLNetConfig, XLNetForQuestionAnsweringSimple, XLNetForSequenceClassification,
                          XLNetForTokenClassification, XLNetLMHeadModel)

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")
FOLDER = os.path.join(OUT, "xlnet-tiny")

TOKENS = [[5, 9, 31, 8, 17, 4, 3], [12, 3], [11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 4, 22, 23, 3]]
TYPES = [[0, 0, 0, 0, 1, 1, 2], [0, 2], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2]]
BEFORE = [[6, 7, 28, 9], [33], [26, 27, 30, 24, 25, 6]]
ORDER = [[0, 4, 5, 6, 2, 1, 3], [1, 0], [13, 3, 1, 0, 12, 10, 5, 7, 4, 9, 8, 6, 2, 11]]  # the tokens not predicted first
PREDICTED = [3, 1, 6]
CLASSES, TAGS = [2, 0, 1], [0, 1, 2, 3, 4]


def exact_positions(self, qlen, klen, bsz=None, device=None):
    """The reference makes its sinusoids in float32; here they are exact, as all the rest."""
    beg, end = klen, -qlen if self.attn_type == "bi" else -1
    at = torch.arange(beg, end, -1).double()
    if self.clamp_len > 0:
        at = at.clamp(-self.clamp_len, self.clamp_len)
    angle = at[:, None] * torch.tensor([10000.0 ** (-2 * i / self.d_model) for i in range(self.d_model // 2)], dtype=torch.float64)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)[:, None, :].expand(-1, bsz, -1)


def config(**changes):
    return XLNetConfig(**{**dict(vocab_size=37, d_model=16, n_layer=2, n_head=2, d_inner=24, dropout=0.0, summary_last_dropout=0.0,
                                 mem_len=None, pad_token_id=36, bos_token_id=1, eos_token_id=2, num_labels=5), **changes})


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.25
            p.copy_((1 + noise if name.endswith("layer_norm.weight") else noise).float())


def exact(model):
    model = model.double().eval()
    model.transformer.relative_positional_encoding = exact_positions.__get__(model.transformer)
    return model


def masks(order, predicted):
    """perm_mask [1, n, n] (1: i does not see j) and target_mapping [1, targets, n] of a factorisation order."""
    n = len(order)
    rank = {p: max(0, at - (n - predicted) + 1) for at, p in enumerate(order)}  # 0: not predicted
    perm = torch.tensor([[[float(rank[j] > 0 and rank[i] <= rank[j]) for j in range(n)] for i in range(n)]], dtype=torch.float64)
    mapping = torch.zeros(1, predicted, n, dtype=torch.float64)
    for t, p in enumerate(order[n - predicted:]):
        mapping[0, t, p] = 1
    return perm, mapping


def causal(n):
    return torch.ones(n, n, dtype=torch.float64).triu()[None]  # the content row sees itself all the same


def tensor(row):
    return torch.tensor([row])


def gradients(model, loss, prefix, out, wanted=lambda name: True):
    model.zero_grad()
    loss.backward()
    for name, p in model.named_parameters():
        if p.grad is not None and wanted(name):
            out[f"{prefix}.grad.{name}"] = p.grad.detach().float()


def two_streams(model, with_types, memory, order, predicted):
    """Logits and labels of the targets, and the content rows that enter the last layer (in the order of the text)."""
    logits, labels, content = [], [], []
    for i, tokens in enumerate(TOKENS):
        perm, mapping = masks(order[i], predicted[i])
        mems = memory[i] if memory else None
        types = tensor(TYPES[i]) if with_types else None
        y = model(tensor(tokens), perm_mask=perm, target_mapping=mapping, token_type_ids=types, mems=mems, use_mems=True,
                  output_hidden_states=True)
        logits.append(y.logits[0])
        labels += [tokens[p] for p in order[i][len(tokens) - predicted[i]:]]
        content.append(y.hidden_states[2][0])  # (h0, g0, h1, g1, …)
    rows = torch.cat(logits)
    return rows, torch.nn.functional.cross_entropy(rows, torch.tensor(labels)), torch.cat(content)


def language_model(model, out):
    def mems_of(mask):
        return [model(tensor(b), perm_mask=causal(len(b)) if mask else None, use_mems=True).mems for b in BEFORE]

    left = [list(range(len(t))) for t in TOKENS]
    cases = {
        "words_permuted": (True, None, ORDER, PREDICTED),
        "words_memory": (True, mems_of(False), ORDER, PREDICTED),
        # From left to right; a first token without a memory sees nothing, and the reference then looks at everything.
        "words_left": (False, None, left, [len(t) - 1 for t in TOKENS]),
        "words_left_memory": (False, mems_of(True), left, [len(t) for t in TOKENS]),
    }
    for name, case in cases.items():
        rows, loss, content = two_streams(model, *case)
        out[f"{name}.logits"], out[f"{name}.loss"], out[f"{name}.content"] = rows.float(), loss.reshape(1), content.float()
        gradients(model, loss, name, out, lambda n: name in ("words_permuted", "words_memory") or "rel_attn.k" in n)
    memory = mems_of(False)
    out["memory.rows"] = torch.cat([m[1][:, 0] for m in memory]).float()
    rows = [model.transformer(tensor(t), mems=m).last_hidden_state[0] for t, m in zip(TOKENS, memory)]
    out["memory.after"] = torch.cat(rows).float()


def content_stream(model, out):
    rows = torch.cat([model(tensor(t), token_type_ids=tensor(s)).logits[0] for t, s in zip(TOKENS, TYPES)])
    loss = torch.nn.functional.cross_entropy(rows, torch.tensor(sum(TOKENS, [])))
    out["words.logits"], out["words.loss"] = rows.float(), loss.reshape(1)
    gradients(model, loss, "words", out, lambda n: "layer.1" in n or n.startswith("lm_loss"))
    for name, changes in {"clamped": dict(clamp_len=3), "causal": dict(attn_type="uni"), "relu": dict(ff_activation="relu")}.items():
        other = exact(XLNetLMHeadModel(config(**changes)))
        other.load_state_dict(model.state_dict())
        out[f"{name}.logits"] = torch.cat([other(tensor(t)).logits[0] for t in TOKENS]).float()


def head(name, model, base, out, run):
    randomise(model, 11)
    model.load_state_dict(base.state_dict(), strict=False)
    model = exact(model)
    logits, loss = run(model)
    out[f"{name}.logits"], out[f"{name}.loss"] = logits.float(), loss.reshape(1)
    for n, p in model.named_parameters():
        if not n.startswith("transformer."):
            out[f"{name}.param.{n}"] = p.detach().float()
    gradients(model, loss, name, out, lambda n: not n.startswith("transformer.") or "layer.0.rel_attn" in n)


def classes(model):
    rows = torch.cat([model(tensor(t), token_type_ids=tensor(s)).logits for t, s in zip(TOKENS, TYPES)])
    return rows, torch.nn.functional.cross_entropy(rows, torch.tensor(CLASSES))


def tags(model):
    rows = torch.cat([model(tensor(t), token_type_ids=tensor(s)).logits[0] for t, s in zip(TOKENS, TYPES)])
    return rows, torch.nn.functional.cross_entropy(rows, torch.tensor([t % 5 for t in sum(TOKENS, [])]))


def spans(model):
    rows, loss = [], 0
    for t, s in zip(TOKENS, TYPES):
        y = model(tensor(t), token_type_ids=tensor(s), start_positions=torch.tensor([0]), end_positions=torch.tensor([len(t) - 1]))
        rows.append(torch.stack([y.start_logits[0], y.end_logits[0]], dim=-1))
        loss = loss + y.loss / len(TOKENS)
    return torch.cat(rows), loss


def ten_steps(model, out):
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        loss = two_streams(model, True, None, ORDER, PREDICTED)[1]
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    out["losses"] = torch.tensor(losses, dtype=torch.float64)
    print("ten steps", losses[0], "->", losses[-1])


def generation(model, out):
    """24 prompts of which the best two scores of every step differ by over 1e-3, however it is done."""
    model = model.float().eval()
    g = torch.Generator().manual_seed(3)
    prompts, results, last = [], {True: [], False: []}, {True: [], False: []}
    while len(prompts) < 24:
        prompt = torch.randint(6, 36, (1 + len(prompts) % 9,), generator=g).tolist()
        new, scores, narrow = {}, {}, False
        for mems in (True, False):
            model.config.use_mems_eval = mems
            y = model.generate(tensor(prompt), max_new_tokens=10, do_sample=False, num_beams=1, eos_token_id=36, pad_token_id=36,
                               output_logits=True, return_dict_in_generate=True)
            new[mems] = y.sequences[0, len(prompt):].tolist()
            scores[mems] = y.logits[-1][0]
            for logits in y.logits:
                best = logits[0].topk(2).values
                narrow |= (best[0] - best[1]).item() < 1e-3
        if narrow or 36 in new[True] + new[False]:
            continue
        prompts.append(prompt)
        for mems in (True, False):
            results[mems].append(new[mems])
            last[mems].append(scores[mems])
    out["prompts"] = torch.tensor(sum(prompts, []))
    out["prompt_lengths"] = torch.tensor([len(p) for p in prompts])
    out["generated_mems"], out["generated"] = torch.tensor(results[True]), torch.tensor(results[False])
    out["last_logits_mems"], out["last_logits"] = torch.stack(last[True]), torch.stack(last[False])
    print("prompts where mems change the text:", sum(a != b for a, b in zip(results[True], results[False])))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    torch.manual_seed(1)
    model = XLNetLMHeadModel(config())
    randomise(model, 7)
    model.save_pretrained(FOLDER)
    os.remove(os.path.join(FOLDER, "generation_config.json"))
    model = exact(model)
    out = {name: torch.tensor(sum(rows, [])) for name, rows in
           {"tokens": TOKENS, "types": TYPES, "before": BEFORE, "order": ORDER}.items()}
    out["lengths"] = torch.tensor([len(t) for t in TOKENS])
    out["before_lengths"] = torch.tensor([len(b) for b in BEFORE])
    out["predicted"] = torch.tensor(PREDICTED)
    content_stream(model, out)
    language_model(model, out)
    head("classes", XLNetForSequenceClassification(config()), model, out, classes)
    head("tags", XLNetForTokenClassification(config()), model, out, tags)
    head("spans", XLNetForQuestionAnsweringSimple(config(num_labels=2)), model, out, spans)
    generation(XLNetLMHeadModel.from_pretrained(FOLDER), out)
    ten_steps(model, out)
    save_file({k: v.detach().contiguous() for k, v in out.items()}, os.path.join(FOLDER, "golden.safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__})


main()
