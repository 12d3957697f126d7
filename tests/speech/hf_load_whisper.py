"""What Hugging Face transformers makes of a classifier of sounds that Fovea saved: hf_load_whisper.py MODEL CASE.json

CASE: rows ([20, 80] features) and logits. Prints one JSON object with the differences."""
import json
import sys

import torch
from transformers import WhisperFeatureExtractor, WhisperForAudioClassification

torch.set_num_threads(1)
case = json.load(open(sys.argv[2]))
model, info = WhisperForAudioClassification.from_pretrained(sys.argv[1], output_loading_info=True)
extractor = WhisperFeatureExtractor.from_pretrained(sys.argv[1])
assert extractor.feature_size == 80 and extractor.hop_length == 160
rows = torch.tensor(case["rows"]).reshape(20, 80).T[None]
with torch.no_grad():
    logits = model.eval()(input_features=rows).logits[0]
print(json.dumps({
    "missing": sorted(info["missing_keys"]),
    "unexpected": sorted(info["unexpected_keys"]),
    "labels": [model.config.id2label[i] for i in range(model.config.num_labels)],
    "largest": (logits - torch.tensor(case["logits"])).abs().max().item(),
}))
