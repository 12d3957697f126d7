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


if WHAT in ("all", "pictures"):
    pictures()
