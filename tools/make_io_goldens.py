#!/usr/bin/env python3
"""Files of the reference safetensors library, for io_test.

    python tools/make_io_goldens.py [--out tests/io]

needs: torch, safetensors. all_types.safetensors holds one tensor of each type that the library
writes, with odd shapes and names; values.json what is in them, as numbers.
"""
import argparse
import json
import os

import torch
from safetensors.torch import save_file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "..", "tests", "io"))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(11)
    wild = torch.randn(3, 5, dtype=torch.float64) * torch.tensor([1e-8, 1e-5, 1.0, 300.0, 60000.0], dtype=torch.float64)
    tensors = {
        "b": torch.tensor([True, False, True]),
        "u8": torch.tensor([0, 7, 255], dtype=torch.uint8),
        "i8": torch.tensor([[-128], [127]], dtype=torch.int8),
        "i16": torch.tensor([-32768, 32767], dtype=torch.int16),
        "u16": torch.tensor([0, 65535], dtype=torch.uint16),
        "i32": torch.tensor([-2**31, 2**31 - 1, 16777217], dtype=torch.int32),
        "u32": torch.tensor([0, 2**32 - 1], dtype=torch.uint32),
        "i64": torch.tensor([-2**63, 2**63 - 1, 5]),
        "u64": torch.tensor([0, 2**63], dtype=torch.uint64),
        "f16": wild.to(torch.float16),
        "bf16": wild.to(torch.bfloat16),
        "layer.0.weight": wild.to(torch.float32),
        "f64": wild,
        "special": torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45]),
        "single": torch.tensor(3.5),
        "empty": torch.zeros(0, 3),
        'quote"back\\slash ü/漢': torch.ones(1, 2, 3, 4),
    }
    save_file(tensors, os.path.join(args.out, "all_types.safetensors"), metadata={"format": "pt"})
    values = {}
    for name, t in tensors.items():
        as_f32 = t.to(torch.float32)
        values[name] = dict(shape=list(t.shape), bits=as_f32.flatten().view(torch.int32).tolist())
    with open(os.path.join(args.out, "values.json"), "w", encoding="utf-8") as f:
        json.dump(values, f, ensure_ascii=False, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
