#!/usr/bin/env python3
"""Makes tests/goldens/timesformer-tiny: for each kind of attention the config, parameters, logits, loss, every gradient and
the losses of ten steps of AdamW of a tiny random-weight TimeSformer of Hugging Face transformers, computed in float64.
usage: tools/make_goldens_clips.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import os
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import TimesformerConfig, TimesformerForVideoClassification

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens", "timesformer-tiny")
CLIPS, FRAMES, LABELS = 2, 3, [2, 0]


def logits_of(model, frames):
    logits = model(frames).logits
    # space_only: transformers judges each frame by itself; the paper averages them
    return logits.view(CLIPS, -1, logits.shape[-1]).mean(1)


def main():
    torch.set_num_threads(1)
    os.makedirs(OUT, exist_ok=True)
    for kind in ("space_only", "joint_space_time", "divided_space_time"):
        torch.manual_seed(3)
        config = TimesformerConfig(image_size=8, patch_size=4, num_channels=2, num_frames=FRAMES, hidden_size=12, num_hidden_layers=2,
                                   num_attention_heads=3, intermediate_size=20, attention_type=kind, num_labels=4)
        model = TimesformerForVideoClassification(config).double().eval()
        with torch.no_grad():
            for name, p in model.named_parameters():
                noise = torch.randn(p.shape, dtype=torch.float64) * 0.3
                p.copy_(((1 + noise) if "layernorm" in name and name.endswith("weight") else noise).float().double())
        frames = torch.randn(CLIPS, FRAMES, 2, 8, 8, dtype=torch.float64).float().double()
        tensors = {"param." + n: p.detach().float() for n, p in model.named_parameters()}
        tensors["frames"] = frames.view(CLIPS * FRAMES, 2, 8, 8).float()
        logits = logits_of(model, frames)
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(LABELS))
        loss.backward()
        tensors.update({"grad." + n: p.grad.float() for n, p in model.named_parameters()})
        tensors.update(logits=logits.detach().float(), loss=loss.detach().reshape(1).float())
        matrices = [p for p in model.parameters() if p.dim() > 1]
        others = [p for p in model.parameters() if p.dim() <= 1]
        adam = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
                                 lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
        losses = []
        for _ in range(10):
            adam.zero_grad()
            loss = torch.nn.functional.cross_entropy(logits_of(model, frames), torch.tensor(LABELS))
            losses.append(loss.item())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
            adam.step()
        tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
        save_file({k: v.contiguous().clone() for k, v in tensors.items()}, os.path.join(OUT, kind + ".safetensors"),
                  {"torch": torch.__version__, "transformers": transformers.__version__})
        with open(os.path.join(OUT, kind + ".json"), "w") as f:
            f.write(config.to_json_string())
        print(kind, losses[0], "->", losses[-1])


main()
