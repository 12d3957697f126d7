#!/usr/bin/env python3
"""Makes the parity golden of SegFormer in tests/goldens/segformer-tiny: a tiny random-weight model of
Hugging Face transformers, its logits and loss as it answers (running averages in the batch norm), and
loss, every gradient and ten AdamW steps as it trains (the batch's own statistics; no dropout), all in
float64.

usage: tools/make_goldens_segment.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import os
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import SegformerConfig, SegformerForSemanticSegmentation

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in list(model.named_parameters()) + list(model.named_buffers()):
            if not p.dtype.is_floating_point:
                continue
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.2
            if "norm" in name and name.endswith("weight"):
                noise = 1 + noise
            if name.endswith("running_var"):
                noise = 0.5 + noise.abs()
            p.copy_(noise.float().double())


def disk_names(model, folder):
    """Names of this process -> names in the file, found by the values."""
    on_disk = load_file(os.path.join(folder, "model.safetensors"))
    names = {}
    for n, p in model.named_parameters():
        same = [k for k, v in on_disk.items() if v.shape == p.shape and torch.equal(v, p.detach().float())]
        assert len(same) == 1, (n, same)
        names[n] = same[0]
    return names


def main():
    config = SegformerConfig(num_channels=3, num_encoder_blocks=3, depths=[1, 2, 1], sr_ratios=[4, 2, 1], hidden_sizes=[6, 8, 12],
                             patch_sizes=[7, 3, 3], strides=[4, 2, 2], num_attention_heads=[1, 2, 3], mlp_ratios=[2, 2, 1],
                             decoder_hidden_size=10, num_labels=3, drop_path_rate=0.0, classifier_dropout_prob=0.0,
                             attn_implementation="eager")
    model = SegformerForSemanticSegmentation(config).double()
    randomise(model, 5)
    folder = os.path.join(OUT, "segformer-tiny")
    os.makedirs(folder, exist_ok=True)
    model.float().save_pretrained(folder)
    model.double()
    names = disk_names(model, folder)

    g = torch.Generator().manual_seed(6)
    pixels = torch.randn(2, 3, 36, 28, generator=g).double()
    labels = torch.randint(0, 3, (2, 36, 28), generator=g)
    labels[0, :5, :7] = 255  # ignored
    tensors = {"pixels": pixels.float(), "labels": labels}
    model.eval()
    out = model(pixel_values=pixels, labels=labels)
    tensors["logits"], tensors["eval_loss"] = out.logits.detach(), out.loss.detach().reshape(1)

    model.train()
    out = model(pixel_values=pixels, labels=labels)
    out.loss.backward()
    tensors["train_logits"], tensors["loss"] = out.logits.detach(), out.loss.detach().reshape(1)
    for n, p in model.named_parameters():
        tensors["grad." + names[n]] = p.grad.detach().clone()
    # After one call: later ones follow biases whose gradient is zero but for rounding, since the norm
    # takes the mean away.
    head = model.decode_head.batch_norm
    tensors["running_mean"], tensors["running_var"] = head.running_mean.clone(), head.running_var.clone()
    randomise(model, 5)
    opt = torch.optim.AdamW([{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.01},
                             {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        loss = model(pixel_values=pixels, labels=labels).loss
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    save_file({k: v.contiguous() for k, v in tensors.items()}, os.path.join(folder, "golden.safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__})
    print("segformer-tiny", losses[0], "->", losses[-1])
    for k, v in sorted(load_file(os.path.join(folder, "model.safetensors")).items()):
        print(k, list(v.shape))


main()
