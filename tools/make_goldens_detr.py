#!/usr/bin/env python3
"""Makes the parity goldens of DETR in tests/goldens/detr-tiny (basic ResNet layers, losses of every decoder
layer) and tests/goldens/detr-bottleneck-tiny (bottleneck layers, the last layer's loss alone): tiny
random-weight models of Hugging Face transformers, their logits, boxes, matches (scipy), loss, every gradient
and ten AdamW steps, all in float64, without dropout. Pictures of one size: nothing is padded.

transformers freezes the whole ResNet here (its test for "stage.1" never meets the names "stages.1"); we ask
for all gradients.

usage: tools/make_goldens_detr.py [OUT]        needs torch, transformers, scipy, safetensors (versions are recorded)
"""
import os
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
from transformers.loss.loss_for_object_detection import HungarianMatcher

torch.set_default_dtype(torch.float64)  # of the weights its loss makes, too
OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in list(model.named_parameters()) + list(model.named_buffers()):
            # kernels by their inputs, so that features are of order 1 and attention is not saturated
            scale = 0.2 if p.dim() == 1 else 0.3 if p.dim() == 2 else (1.5 / p[0].numel()) ** 0.5
            if "query_position" in name:
                scale = 1.0  # as they begin: rows of the decoder that differ
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * scale
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


def things_of(g, counts):
    labels = []
    for n in counts:
        size = 0.1 + 0.5 * torch.rand(n, 2, generator=g)
        centre = size / 2 + (1 - size) * torch.rand(n, 2, generator=g)
        labels.append({"class_labels": torch.randint(0, 3, (n,), generator=g),
                       "boxes": torch.cat([centre, size], 1).float().double()})
    return labels


def make(name, seed, resnet, **detr):
    torch.manual_seed(seed)
    config = DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=resnet,
                        num_labels=3, dropout=0.0, attn_implementation="eager", **detr)
    model = DetrForObjectDetection(config).double()
    randomise(model, seed)
    for p in model.parameters():
        p.requires_grad_(True)
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    model.float().save_pretrained(folder)
    model.double()
    randomise(model, seed)
    names = disk_names(model, folder)

    g = torch.Generator().manual_seed(seed + 1)
    pixels = torch.randn(2, 3, 39, 50, generator=g).double()
    labels = things_of(g, [4, 2])
    tensors = {"pixels": pixels.float()}
    for i, l in enumerate(labels):
        tensors[f"labels.{i}"], tensors[f"boxes.{i}"] = l["class_labels"], l["boxes"]
    model.eval()
    out = model(pixel_values=pixels, labels=labels)
    tensors["logits"], tensors["boxes"] = out.logits.detach().flatten(0, 1), out.pred_boxes.detach().flatten(0, 1)
    tensors["loss"] = out.loss.detach().reshape(1)
    matcher = HungarianMatcher(config.class_cost, config.bbox_cost, config.giou_cost)
    outputs = [{"logits": out.logits, "pred_boxes": out.pred_boxes}] + list(out.auxiliary_outputs or [])
    for layer, o in enumerate(outputs):  # the last layer first
        for i, (rows, things) in enumerate(matcher(o, labels)):
            tensors[f"matches.{layer}.{i}"] = torch.stack([rows, things])
    out.loss.backward()
    for n, p in model.named_parameters():
        tensors["grad." + names[n]] = (torch.zeros_like(p) if p.grad is None else p.grad).detach().clone()
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
    print(name, losses[0], "->", losses[-1])
    for k, v in sorted(load_file(os.path.join(folder, "model.safetensors")).items()):
        print(k, list(v.shape))


make("detr-tiny", 7,
     ResNetConfig(embedding_size=6, hidden_sizes=[6, 8], depths=[2, 1], layer_type="basic", out_features=["stage2"]),
     num_queries=6, encoder_layers=1, decoder_layers=3, encoder_ffn_dim=12, decoder_ffn_dim=10, d_model=12,
     encoder_attention_heads=3, decoder_attention_heads=2, auxiliary_loss=True)
make("detr-bottleneck-tiny", 9,
     ResNetConfig(embedding_size=5, hidden_sizes=[8, 12], depths=[1, 2], layer_type="bottleneck", out_features=["stage2"],
                  downsample_in_first_stage=True),
     num_queries=5, encoder_layers=2, decoder_layers=1, encoder_ffn_dim=12, decoder_ffn_dim=10, d_model=8,
     encoder_attention_heads=2, decoder_attention_heads=2, auxiliary_loss=False, activation_function="gelu")
