#!/usr/bin/env python3
"""Makes tests/goldens/gpt2-tiny: a tiny random-weight GPT-2 of Hugging Face transformers with the logits, loss and every
gradient of all its heads (float64), ten training steps, logits of config variants, greedy and beam generation, what the
logits processors make of rows of scores, and the perplexity of a token stream by sliding windows.

usage: tools/make_goldens_gpt2.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import copy
import os
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import (GPT2Config, GPT2ForQuestionAnswering, GPT2ForSequenceClassification, GPT2ForTokenClassification,
                          GPT2LMHeadModel)
from transformers.generation import logits_process as lp

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")
TEXTS = [[5, 9, 31, 4, 17, 2], [8], [11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 2], [40, 41, 8]]
EOS, VOCAB, CONTEXT = 60, 61, 40
BASE = dict(vocab_size=VOCAB, n_positions=CONTEXT, n_embd=12, n_layer=2, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0,
            attn_pdrop=0.0, classifier_dropout=0.0, bos_token_id=EOS, eos_token_id=EOS, pad_token_id=EOS)


def randomise(model, seed):
    """Weights spread more than at the start of a training, so that the best logits lie apart; float32 values."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.4
            if "wpe" in name:
                noise *= 4  # so that texts do not end in one token for ever
            if "wte" in name:
                noise[EOS] *= 2.8  # and some of them end
            p.copy_((1 + noise if "ln_" in name and name.endswith("weight") else noise).float().double())


def alone(model, text):
    return model(input_ids=torch.tensor([text]), attention_mask=torch.ones(1, len(text), dtype=torch.long))


def words_loss(model):
    """Mean over all next tokens of all texts."""
    rows, labels = [], []
    for text in TEXTS:
        rows.append(alone(model, text).logits[0])
        labels += text[1:] + [-100]
    rows = torch.cat(rows)
    return rows, torch.nn.functional.cross_entropy(rows, torch.tensor(labels))


def head_loss(model, labels):
    """Any other head; rows of all texts one after the other."""
    rows = []
    for text in TEXTS:
        out = alone(model, text)
        rows.append(torch.stack([out.start_logits[0], out.end_logits[0]], 1) if hasattr(out, "start_logits")
                    else out.logits.reshape(-1, out.logits.shape[-1]))
    rows = torch.cat(rows)
    return rows, torch.nn.functional.cross_entropy(rows, labels)


def keep_gradients(model, head, tensors):
    for n, p in model.named_parameters():
        if p.grad is not None and n != "lm_head.weight":
            tensors[f"{head}.grad.{n}"] = p.grad.detach().float().clone()


def heads(words, tensors):
    total = sum(map(len, TEXTS))
    for name, cls, count in (("classes", GPT2ForSequenceClassification, len(TEXTS)), ("tags", GPT2ForTokenClassification, total),
                             ("spans", GPT2ForQuestionAnswering, total)):
        model = cls(GPT2Config(**BASE, num_labels=2 if name == "spans" else 3)).double().eval()
        randomise(model, 11)
        model.transformer.load_state_dict(words.transformer.state_dict())
        labels = torch.arange(count) * 7 % (2 if name == "spans" else 3)
        rows, loss = head_loss(model, labels)
        loss.backward()
        tensors[f"{name}.logits"], tensors[f"{name}.loss"] = rows.detach(), loss.detach().reshape(1)
        tensors[f"{name}.labels"] = labels
        for n, p in model.named_parameters():
            if not n.startswith("transformer."):
                tensors[f"{name}.weight.{n}"] = p.detach().float().clone()
        keep_gradients(model, name, tensors)


def variants(words, tensors):
    for name, change in (("inverse", dict(scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True)),
                         ("unscaled", dict(scale_attn_weights=False)), ("relu", dict(activation_function="relu")),
                         ("erf", dict(activation_function="gelu", layer_norm_epsilon=1e-3))):
        model = GPT2LMHeadModel(GPT2Config(**BASE, **change)).double().eval()
        model.load_state_dict(words.state_dict())
        with torch.no_grad():
            tensors[f"variant.{name}"] = torch.cat([alone(model, t).logits[0] for t in TEXTS])


def steps(model, tensors):
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        _, loss = words_loss(model)
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)


def gap(model, prompt, produced):
    """The smallest distance of the best two logits on the way."""
    with torch.no_grad():
        logits = alone(model, prompt + produced[:-1]).logits[0, len(prompt) - 1:]
    best = logits.topk(2).values
    return (best[:, 0] - best[:, 1]).min().item()


def generated(model, prompt, new, **how):
    with torch.no_grad():
        out = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), max_new_tokens=new,
                             do_sample=False, pad_token_id=EOS, **how)
    return out[0].tolist()[len(prompt):]


def pack(prefix, pairs, tensors):
    for side, rows in (("prompts", [p for p, _ in pairs]), ("outputs", [o for _, o in pairs])):
        tensors[f"{prefix}.{side}"] = torch.tensor([x for r in rows for x in r], dtype=torch.uint8)
        tensors[f"{prefix}.{side}_lengths"] = torch.tensor([len(r) for r in rows], dtype=torch.uint8)


def generation(model, tensors):
    g = torch.Generator().manual_seed(3)
    kept, tried = [], 0
    while len(kept) < 200:
        tried += 1
        n = int(torch.randint(1, 9, (1,), generator=g))
        prompt = torch.randint(0, VOCAB - 1, (n,), generator=g).tolist()
        out = generated(model, prompt, CONTEXT - n if len(kept) % 40 == 0 else 12)
        if gap(model, prompt, out) > 1e-3:
            kept.append((prompt, out))
    pack("greedy", kept, tensors)
    controls = dict(repetition_penalty=1.4, no_repeat_ngram_size=2, bad_words_ids=[[3], [5, 7], [20, 21, 22]])
    pack("controlled", [(p, generated(model, p, 16, **controls)) for p, _ in kept[:20]], tensors)
    pack("beam", [(p, generated(model, p, 10, num_beams=4, early_stopping=True, length_penalty=1.0)) for p, _ in kept[:20]], tensors)
    print("greedy: kept 200 of", tried, "; ended by eos:", sum(EOS in o for _, o in kept),
          "; mean kinds of tokens:", sum(len(set(o)) for _, o in kept) / 200)


def filters(tensors):
    g = torch.Generator().manual_seed(5)
    scores = (torch.randn(6, 37, generator=g) * 2.5).float()
    ids = torch.randint(0, 12, (6, 14), generator=g)
    ids[0, -3:] = torch.tensor([1, 2, 4])
    ids[1, -1] = 5
    ids[2, -2:] = torch.tensor([1, 2])
    tensors["filter.scores"], tensors["filter.ids"] = scores, ids
    made = {
        "temperature": [lp.TemperatureLogitsWarper(0.7)],
        "top_k": [lp.TopKLogitsWarper(5)],
        "top_p": [lp.TopPLogitsWarper(0.8)],
        "min_p": [lp.MinPLogitsWarper(0.1)],
        "all": [lp.TemperatureLogitsWarper(1.3), lp.TopKLogitsWarper(20), lp.TopPLogitsWarper(0.9), lp.MinPLogitsWarper(0.05)],
        "repetition": [lp.RepetitionPenaltyLogitsProcessor(1.3)],
        "ngram": [lp.NoRepeatNGramLogitsProcessor(2)],
        "bad_words": [lp.NoBadWordsLogitsProcessor([[3], [5, 7], [1, 2, 4], [1, 2]], eos_token_id=torch.tensor([36]))],
        "controls": [lp.RepetitionPenaltyLogitsProcessor(0.8), lp.NoRepeatNGramLogitsProcessor(1),
                     lp.NoBadWordsLogitsProcessor([[30]], eos_token_id=torch.tensor([36]))],
    }
    for name, chain in made.items():
        now = scores.clone()
        for step in chain:
            now = step(ids, now)
        tensors[f"filter.{name}"] = now.float()


def perplexity(model, tensors):
    """The sliding windows of the documentation of transformers, each token's loss counted exactly once."""
    g = torch.Generator().manual_seed(9)
    stream = torch.randint(0, VOCAB, (300,), generator=g)
    tensors["stream"] = stream.to(torch.uint8)
    for context, stride in ((40, 40), (40, 16), (25, 7), (40, 1)):
        total, count, before = 0.0, 0, 0
        for begin in range(0, len(stream), stride):
            end = min(begin + context, len(stream))
            window = stream[begin:end]
            labels = window.clone()
            labels[: len(window) - (end - before)] = -100
            with torch.no_grad():
                logits = model(input_ids=window[None]).logits[0]
            total += torch.nn.functional.cross_entropy(logits[:-1], labels[1:], reduction="sum").item()
            count += int((labels[1:] != -100).sum())
            before = end
            if end == len(stream):
                break
        tensors[f"perplexity.{context}.{stride}"] = torch.tensor([total, count], dtype=torch.float64)


def main():
    folder = os.path.join(OUT, "gpt2-tiny")
    os.makedirs(folder, exist_ok=True)
    model = GPT2LMHeadModel(GPT2Config(**BASE)).double().eval()
    randomise(model, 7)
    copy.deepcopy(model).float().save_pretrained(folder)
    os.remove(os.path.join(folder, "generation_config.json"))
    tensors = {"texts": torch.tensor([x for t in TEXTS for x in t]), "lengths": torch.tensor([len(t) for t in TEXTS])}
    rows, loss = words_loss(model)
    loss.backward()
    tensors["words.logits"], tensors["words.loss"] = rows.detach(), loss.detach().reshape(1)
    keep_gradients(model, "words", tensors)
    model.zero_grad()
    heads(model, tensors)
    variants(model, tensors)
    generation(model, tensors)
    filters(tensors)
    perplexity(model, tensors)
    steps(model, tensors)  # last: it changes the weights
    tensors = {k: v.float() if k.endswith("logits") or k.startswith("variant.") else v for k, v in tensors.items()}
    save_file({k: v.contiguous() for k, v in tensors.items()}, os.path.join(folder, "golden.safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__})
    print("loss", tensors["losses"][0].item(), "->", tensors["losses"][-1].item())


main()
