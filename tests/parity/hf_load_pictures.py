"""What Hugging Face transformers makes of a folder of a picture model that Fovea saved:
hf_load_pictures.py MODEL CASES.json

CASES: kind (image, video, segment), pictures (paths; of a video its frames), logits (row by row; of a segmenter
for each pixel of the picture). Pictures go through the folder's own image processor. Prints one JSON object."""
import json
import sys

import torch
from PIL import Image
from transformers import (AutoImageProcessor, AutoModelForImageClassification, AutoModelForSemanticSegmentation,
                          AutoModelForVideoClassification)

torch.set_num_threads(1)
KINDS = {"image": AutoModelForImageClassification, "video": AutoModelForVideoClassification,
         "segment": AutoModelForSemanticSegmentation}


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    model, info = KINDS[cases["kind"]].from_pretrained(folder, output_loading_info=True)
    model.eval()
    processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
    pictures = [Image.open(path) for path in cases["pictures"]]
    pixels = processor(pictures, return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        logits = model(pixel_values=pixels).logits
    if cases["kind"] == "segment":
        size = pictures[0].size[::-1]
        logits = torch.nn.functional.interpolate(logits, size=size, mode="bilinear", align_corners=False)
        logits = logits.permute(0, 2, 3, 1)
    print(json.dumps({
        "class": type(model).__name__,
        "processor": type(processor).__name__,
        "pixels": list(pixels.shape),
        # a counter of training steps that nothing reads
        "missing": sorted(k for k in info["missing_keys"] if not k.endswith("num_batches_tracked")),
        "unexpected": sorted(info["unexpected_keys"]),
        "logits": (logits.reshape(-1) - torch.tensor(cases["logits"])).abs().max().item(),
    }))


main(*sys.argv[1:])
