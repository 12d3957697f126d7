#!/usr/bin/env python3
"""Makes the goldens of pictures: files of many kinds with what Pillow reads from them, what Pillow
makes of them in other sizes (tests/goldens/pictures), and tiny ViT and DeiT models of Hugging Face
transformers (tests/goldens/vit-tiny, deit-tiny): logits, loss, every gradient (float64), ten training
steps (float32 AdamW), pixel values of ViTImageProcessorPil.

usage: tools/make_goldens_vision.py [pictures|vit] [OUT]      needs pillow, torch, transformers
"""
import io
import json
import os
import sys
import zlib

import numpy
import PIL
from PIL import Image, ImageOps

WHAT = sys.argv[1] if len(sys.argv) > 1 else "all"
OUT = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")
FILTERS = ["nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"]  # Pillow's numbers 0 to 5


def made(height, width, channels):
    """The picture that fovea/io/resize_test.cpp makes too: a slope with noise on it."""
    n = height * width * channels
    x = numpy.arange(n, dtype=numpy.uint64)
    noise = (x * 2654435761 + 12345) % (1 << 32) >> 24
    return ((x * 7 // channels % 256 + noise) // 2).astype(numpy.uint8).reshape(height, width, channels)


def image(array):
    return Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)


def resizes():
    cases = []
    for height, width, channels in ((13, 17, 3), (5, 9, 1), (64, 48, 3), (1, 1, 3), (31, 200, 4)):
        source = image(made(height, width, channels))
        for to_height, to_width in ((7, 9), (13, 17), (32, 32), (1, 1), (13, 40), (20, 17), (3, 200)):
            for number, name in enumerate(FILTERS):
                # Pillow weighs colours by their transparency: bands alone are what we do.
                bands = [b.resize((to_width, to_height), number) for b in source.split()]
                pixels = numpy.stack([numpy.asarray(b) for b in bands], axis=-1).tobytes()
                case = {"from": [height, width, channels], "to": [to_height, to_width], "filter": number,
                        "crc": zlib.crc32(pixels)}
                if len(pixels) <= 64:
                    case["pixels"] = list(pixels)
                cases.append(case)
    return cases


def smooth(height, width):
    y, x = numpy.mgrid[0:height, 0:width]
    return numpy.stack([(x * 9) % 256, (y * 11) % 256, (x * 3 + y * 5) % 256], axis=-1).astype(numpy.uint8)


def exif(orientation):
    data = Image.Exif()
    data[0x0112] = orientation
    return data


def picture_files(folder):
    colours, grey = Image.fromarray(smooth(11, 14)), Image.fromarray(smooth(11, 14)[:, :, 2])
    files = {
        "rgb.png": (colours, {}), "grey.png": (grey, {}), "rgba.png": (colours.convert("RGBA"), {}),
        "la.png": (grey.convert("LA"), {}), "palette.png": (colours.quantize(7), {}),
        "bits1.png": (grey.convert("1"), {}), "grey.jpg": (grey, {"quality": 80}),
        "rgb.jpg": (colours, {"quality": 90, "subsampling": 0}),
        "small.jpg": (colours, {"quality": 75, "subsampling": 2}),
        "progressive.jpg": (colours, {"quality": 85, "progressive": True}),
    }
    for orientation in range(1, 9):
        files[f"turned{orientation}.jpg"] = (colours, {"quality": 90, "exif": exif(orientation)})
    found = []
    for name, (picture, options) in files.items():
        path = os.path.join(folder, name)
        picture.save(path, **options)
        found.append(name)
    # libpng's odder kinds, which Pillow does not write: 16 bits, interlaced, transparency of a palette.
    wide = (smooth(6, 5).astype(numpy.uint16) * 257 + 3).astype(">u2")
    found += [png_file(folder, "rgb16.png", 5, 6, 16, 2, [row.tobytes() for row in wide])]
    rows = smooth(6, 5)
    found += [png_file(folder, "transparent.png", 5, 6, 8, 3, [bytes(x % 4 for x in range(y, y + 5)) for y in range(6)],
                       [(b"PLTE", bytes(range(12))), (b"tRNS", b"\x00\x80")])]
    found += [png_file(folder, "interlaced.png", 5, 6, 8, 2, adam7(rows), interlaced=1)]
    return [expected(folder, name) for name in found]


def chunk(kind, data):
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png_file(folder, name, width, height, depth, colour, rows, more=(), interlaced=0):
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([depth, colour, 0, 0, interlaced])
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(*c) for c in more)
    data += chunk(b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))) + chunk(b"IEND", b"")
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)
    return name


def adam7(pixels):
    rows = []
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        part = pixels[y0::dy, x0::dx]
        if part.size:
            rows += [row.tobytes() for row in part]
    return rows


def expected(folder, name):
    entry = {"name": name}
    with Image.open(os.path.join(folder, name)) as picture:
        upright = ImageOps.exif_transpose(picture)
        entry["size"] = [upright.height, upright.width]
        for channels, mode in ((3, "RGB"), (1, "L")):
            if channels == 1 and upright.mode not in ("L", "1", "LA"):
                upright = upright.convert("RGB")
            entry[f"crc{channels}"] = zlib.crc32(numpy.asarray(upright.convert(mode)).tobytes())
        if picture.mode == "P":
            entry["indices"] = zlib.crc32(numpy.asarray(picture).tobytes())
    return entry


def pictures():
    folder = os.path.join(OUT, "pictures")
    os.makedirs(folder, exist_ok=True)
    golden = {"pillow": PIL.__version__, "resizes": resizes(), "files": picture_files(folder)}
    with open(os.path.join(folder, "golden.json"), "w") as f:
        json.dump(golden, f, separators=(",", ":"))


def randomise(model):
    """Random values that float32 can hold."""
    import torch

    g = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.2
            if "norm" in name and name.endswith("weight"):
                noise = 1 + noise
            p.copy_(noise.float().double())


def ten_steps(model, run):
    """AdamW: learning rate 1e-3, weight decay 0.01 on matrices alone, gradients clipped to norm 1."""
    import torch

    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        loss = run()
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
        opt.step()
    return losses


def disk_names(model):
    """The names that save_pretrained writes, by the parameter's own: found by a file of numbered tensors."""
    import tempfile

    import torch
    from safetensors import safe_open

    kept = {n: p.detach().clone() for n, p in model.named_parameters()}
    names = {}
    with torch.no_grad():
        for i, (n, p) in enumerate(model.named_parameters()):
            p.fill_(i)
            names[i] = n
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with safe_open(os.path.join(folder, "model.safetensors"), "pt") as f:
            found = {names[int(f.get_tensor(k).flatten()[0])]: k for k in f.keys()}
    with torch.no_grad():
        for n, p in model.named_parameters():
            p.copy_(kept[n])
    assert len(found) == len(names), (len(found), len(names))
    return found


def vit_model(folder, architecture, config, processor):
    import torch
    import transformers
    from safetensors.torch import save_file

    os.makedirs(folder, exist_ok=True)
    model = getattr(transformers, architecture)(config).double().eval()
    randomise(model)
    names = disk_names(model)
    pictures = [made(17, 23, 3), made(12, 12, 3), made(30, 9, 3)]
    pixels = processor(images=[image(p) for p in pictures], return_tensors="pt")["pixel_values"]
    labels = torch.tensor([2, 0, 1])
    given = pixels.double()

    def run():
        logits = model(pixel_values=given).logits
        return torch.nn.functional.cross_entropy(logits, labels)

    logits = model(pixel_values=given).logits
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    tensors = {"pixels": pixels.float(), "logits": logits.detach(), "loss": loss.detach().reshape(1)}
    for n, p in model.named_parameters():
        tensors["grad." + names[n]] = p.grad.detach().float()
    model.float().save_pretrained(folder)
    processor.save_pretrained(folder)
    model.double()
    larger = torch.nn.functional.interpolate(given, size=(20, 28), mode="nearest")
    tensors["larger_pixels"] = larger.float()
    tensors["larger_logits"] = model(pixel_values=larger.float().double(), interpolate_pos_encoding=True).logits.detach()
    tensors["losses"] = torch.tensor(ten_steps(model, run), dtype=torch.float64)
    save_file({k: v.contiguous().clone() for k, v in tensors.items()}, os.path.join(folder, "golden.safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__, "pillow": PIL.__version__})
    print(os.path.basename(folder), "loss", tensors["losses"][0].item(), "->", tensors["losses"][-1].item())


def vit():
    import transformers

    sizes = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, image_size=12,
                 patch_size=4, num_channels=3, num_labels=3, attn_implementation="eager")
    processor = transformers.ViTImageProcessorPil(size={"height": 12, "width": 12})
    vit_model(os.path.join(OUT, "vit-tiny"), "ViTForImageClassification", transformers.ViTConfig(**sizes), processor)
    deit_processor = transformers.DeiTImageProcessorPil(size={"height": 14, "width": 14}, crop_size={"height": 12, "width": 12})
    vit_model(os.path.join(OUT, "deit-tiny"), "DeiTForImageClassificationWithTeacher", transformers.DeiTConfig(**sizes), deit_processor)


if WHAT in ("all", "pictures"):
    pictures()
if WHAT in ("all", "vit"):
    vit()
