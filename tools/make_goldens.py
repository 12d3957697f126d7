#!/usr/bin/env python3
"""Makes the parity goldens of tests/goldens: tiny random-weight models of Hugging Face transformers,
their logits, loss, every gradient (all in float64) and ten training steps (float32 AdamW).

usage: tools/make_goldens.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import json
import os
import sys

import torch
from safetensors.torch import save_file
from transformers import BartConfig, BartForConditionalGeneration, MarianConfig, MarianMTModel
import transformers

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")
SOURCES = [[5, 9, 31, 4, 17, 2], [8, 2], [11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 2]]
TARGETS = [[7, 30, 22, 6, 2], [25, 26, 27, 28, 29, 10, 3, 2], [33, 2]]


def pad(rows, value):
    n = max(map(len, rows))
    return torch.tensor([r + [value] * (n - len(r)) for r in rows])


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.2
            if name.endswith("norm.weight") or "layer_norm" in name and name.endswith("weight"):
                noise = 1 + noise
            p.copy_(noise)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape, generator=g, dtype=torch.float64) * 0.1)


def exact_positions(model):
    """Marian's constant position tables are made in float32: put the float64 values there."""
    if not hasattr(model.model.encoder.embed_positions, "create_weight"):
        return
    for side in (model.model.encoder, model.model.decoder):
        w = side.embed_positions.weight.requires_grad_(False)
        n, d = w.shape
        enc = torch.tensor([[p / 10000 ** (2 * (j // 2) / d) for j in range(d)] for p in range(n)], dtype=torch.float64)
        half = d // 2 + d % 2
        with torch.no_grad():
            w[:, :half] = torch.sin(enc[:, 0::2])
            w[:, half:] = torch.cos(enc[:, 1::2])


def run(model, start, pad_id, eps):
    source, labels = pad(SOURCES, pad_id), pad(TARGETS, -100)
    mask = (source != pad_id).long()
    inputs = pad([[start] + t[:-1] for t in TARGETS], pad_id)
    logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=inputs).logits
    rows = torch.cat([logits[i, : len(t)] for i, t in enumerate(TARGETS)])
    flat = torch.tensor([x for t in TARGETS for x in t])
    loss = torch.nn.functional.cross_entropy(rows, flat, label_smoothing=eps)
    return rows, loss


def golden(name, model, start, pad_id):
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    model = model.double().eval()
    randomise(model, 7)
    exact_positions(model)
    # weights as they will be saved: float32
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.float().double())
        model.final_logits_bias.copy_(model.final_logits_bias.float().double())
    model.float().save_pretrained(folder)
    model.double()
    exact_positions(model)

    tensors = {"source": torch.tensor([x for s in SOURCES for x in s]), "source_lengths": torch.tensor([len(s) for s in SOURCES]),
               "target": torch.tensor([x for t in TARGETS for x in t]), "target_lengths": torch.tensor([len(t) for t in TARGETS])}
    rows, loss = run(model, start, pad_id, 0.1)
    loss.backward()
    tensors["logits"] = rows.detach()
    tensors["loss"] = loss.detach().reshape(1)
    for n, p in model.named_parameters():
        if p.grad is not None and n not in ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"):
            tensors["grad." + n] = p.grad.detach().clone()
    # ten steps of AdamW in float64: learning rate 1e-3, weight decay 0.01 on matrices alone
    decay = [p for n, p in model.named_parameters() if p.requires_grad and p.dim() > 1]
    plain = [p for n, p in model.named_parameters() if p.requires_grad and p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        _, loss = run(model, start, pad_id, 0.1)
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        opt.step()
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    save_file({k: v.contiguous() for k, v in tensors.items()}, os.path.join(folder, "golden.safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__})
    for extra in ("generation_config.json",):
        path = os.path.join(folder, extra)
        if os.path.exists(path):
            os.remove(path)
    print(name, "loss", losses[0], "->", losses[-1])


def main():
    torch.manual_seed(1)
    common = dict(vocab_size=37, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                  encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=32, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0)
    marian = MarianMTModel(MarianConfig(**common, activation_function="swish", scale_embedding=True, pad_token_id=36, eos_token_id=2,
                                        decoder_start_token_id=3, decoder_vocab_size=37, static_position_embeddings=True))
    golden("marian-tiny", marian, 3, 36)  # the start is not pad: torch drops the gradient of pad rows
    bart = BartForConditionalGeneration(BartConfig(**common, activation_function="gelu", pad_token_id=1, bos_token_id=0, eos_token_id=2,
                                                   decoder_start_token_id=2))
    golden("bart-tiny", bart, 2, 1)


main()
