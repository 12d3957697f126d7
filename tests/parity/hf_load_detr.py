"""What Hugging Face transformers makes of a DETR folder that Fovea saved: hf_load_detr.py MODEL CASES.json

CASES: pixels (pictures, channels, lines, columns), logits and boxes (row by row).
Prints one JSON object with the differences."""
import json
import sys

import torch
from transformers import AutoModelForObjectDetection

torch.set_num_threads(1)


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    model, info = AutoModelForObjectDetection.from_pretrained(folder, output_loading_info=True)
    model.eval()
    with torch.no_grad():
        out = model(pixel_values=torch.tensor(cases["pixels"]))

    def difference(found, want):
        return (found.reshape(-1) - torch.tensor(want)).abs().max().item()

    print(json.dumps({
        "class": type(model).__name__,
        "missing": sorted(info["missing_keys"]),
        "unexpected": sorted(info["unexpected_keys"]),
        "labels": [model.config.id2label[i] for i in range(model.config.num_labels)],
        "logits": difference(out.logits, cases["logits"]),
        "boxes": difference(out.pred_boxes, cases["boxes"]),
    }))


main(*sys.argv[1:])
