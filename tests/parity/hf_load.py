"""What Hugging Face transformers makes of a folder that Fovea saved: hf_load.py MODEL CASES.json

CASES: texts, ids (Fovea's of each text), targets (decoder inputs), logits (of each target, row by
row) and greedy (Fovea's output ids, without </s>). Prints one JSON object with the differences."""
import json
import sys

import torch
from transformers import AutoTokenizer, MarianMTModel


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    model, info = MarianMTModel.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in cases["texts"]]
    largest, greedy = 0.0, []
    for source, target, want in zip(cases["ids"], cases["targets"], cases["logits"]):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target])).logits[0]
            out = model.generate(torch.tensor([source]), num_beams=1, do_sample=False, max_length=cases["max_length"] + 1)
        largest = max(largest, (logits - torch.tensor(want)).abs().max().item())
        produced = out[0].tolist()[1:]
        eos = model.config.eos_token_id
        greedy.append(produced[: produced.index(eos)] if eos in produced else produced)
    print(json.dumps({
        "missing": sorted(k for k in info["missing_keys"] if "embed_positions" not in k),
        "unexpected": sorted(info["unexpected_keys"]),
        "same_ids": ids == cases["ids"],
        "ids": ids,
        "largest": largest,
        "same_greedy": greedy == cases["greedy"],
        "greedy": greedy,
    }))


main(*sys.argv[1:])
