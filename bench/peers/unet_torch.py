#!/usr/bin/env python3
"""A U-Net (Ronneberger et al. 2015; 16 to 128 channels, batch norm) in PyTorch on pictures with masks, given so many minutes of the
processor: what the segmenter of recipes/nuclei-segformer.toml stands beside.

    unet_torch.py DATA --minutes 25 [--threads 1] [--seed 1]

DATA holds images/, masks/ and the lists train.txt and test.txt, one name a line. Pictures are flipped, turned by quarters and lit
differently, as Fovea's are. The rate falls as half a cosine over the minutes. Prints the mean Dice and IoU over the test pictures.
"""
import argparse
import math
import pathlib
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F


def convolutions(inside, outside):
    layers = []
    for n in (inside, outside):
        layers += [nn.Conv2d(n, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()
        self.down = nn.ModuleList(convolutions(a, b) for a, b in zip((3, *widths), widths))
        self.enlarge = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(convolutions(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x):
        seen = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            seen.append(x)
        for i in reversed(range(len(self.up))):
            x = self.up[i](torch.cat([seen[i], self.enlarge[i](x)], 1))
        return self.head(x)[:, 0]


def pictures(data, names):
    found = []
    for name in (data / names).read_text().split():
        picture, mask = (next((data / part).glob(name + ".*")) for part in ("images", "masks"))
        x = torch.from_numpy(np.asarray(Image.open(picture).convert("RGB"), np.float32) / 127.5 - 1).permute(2, 0, 1)
        found.append((x, torch.from_numpy((np.asarray(Image.open(mask)) > 0).astype(np.float32))))
    return found


def seen_otherwise(x, y, rng):
    turns, flip = int(rng.integers(4)), bool(rng.integers(2))
    x, y = torch.rot90(x, turns, (1, 2)), torch.rot90(y, turns, (0, 1))
    if flip:
        x, y = x.flip(2), y.flip(1)
    return x * math.exp(rng.uniform(-0.3, 0.3)) + rng.uniform(-0.3, 0.3), y


def train(model, examples, minutes, rng):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    begin, updates = time.process_time(), 0
    while (share := (time.process_time() - begin) / 60 / minutes) < 1:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * (1 + math.cos(math.pi * share)) / 2
        drawn = [seen_otherwise(*examples[i], rng) for i in rng.choice(len(examples), 8, replace=False)]
        x, y = (torch.stack(part) for part in zip(*drawn))
        loss = F.binary_cross_entropy_with_logits(model(x.to(memory_format=torch.channels_last)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
    return updates, loss.item()


def scores(model, examples):
    model.eval()
    dice, iou = [], []
    for x, y in examples:
        with torch.inference_mode():
            found = model(x[None])[0] > 0
        both, either = float((found * y).sum()), float(found.sum() + y.sum())
        dice.append(2 * both / either if either else 1)
        iou.append(both / (either - both) if either else 1)
    return 100 * np.mean(dice), 100 * np.mean(iou)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=25, help="of the processor")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(o.seed)
    model = UNet().to(memory_format=torch.channels_last)
    updates, loss = train(model, pictures(o.data, "train.txt"), o.minutes, np.random.default_rng(o.seed))
    dice, iou = scores(model, pictures(o.data, "test.txt"))
    count = sum(p.numel() for p in model.parameters())
    print(f"{count} parameters, {updates} updates in {o.minutes} minutes of the processor, last loss {loss:.4f}")
    print(f"test: Dice {dice:.2f}, IoU {iou:.2f}")


main()
