"""What Hugging Face transformers makes of an encoder's folder that Fovea saved: hf_load_encoder.py MODEL CASES.json

CASES: head (words or classes), texts (one or two each), ids and types (Fovea's), logits (row by row) and labels.
Prints one JSON object with the differences."""
import json
import sys

import torch
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer

torch.set_num_threads(1)


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    auto = AutoModelForMaskedLM if cases["head"] == "words" else AutoModelForSequenceClassification
    model, info = auto.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = [tokenizer(*texts, return_token_type_ids=True) for texts in cases["texts"]]
    ids = [e["input_ids"] for e in encoded]
    types = [e["token_type_ids"] for e in encoded]
    largest = 0.0
    for i, want in enumerate(cases["logits"]):
        given = dict(input_ids=torch.tensor([cases["ids"][i]]))
        if model.config.model_type == "bert":
            given["token_type_ids"] = torch.tensor([cases["types"][i]])
        with torch.no_grad():
            logits = model(**given).logits[0]
        largest = max(largest, (logits.reshape(-1) - torch.tensor(want).reshape(-1)).abs().max().item())
    print(json.dumps({
        "class": type(model).__name__,
        "missing": sorted(info["missing_keys"]),
        "unexpected": sorted(info["unexpected_keys"]),
        "same_ids": ids == cases["ids"],
        "ids": ids,
        "same_types": types == cases["types"],
        "types": types,
        "labels": [model.config.id2label[i] for i in range(model.config.num_labels)],
        "largest": largest,
    }))


main(*sys.argv[1:])
