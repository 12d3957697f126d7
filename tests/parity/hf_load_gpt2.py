"""What Hugging Face transformers makes of a GPT-2 folder that Fovea saved: hf_load_gpt2.py MODEL CASES.json

CASES: texts, ids (Fovea's of each text), logits (row by row), greedy (Fovea's output ids) and max_tokens. Prints one
JSON object with the differences."""
import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    largest, greedy = 0.0, []
    for ids, want in zip(cases["ids"], cases["logits"]):
        given = torch.tensor([ids])
        with torch.no_grad():
            logits = model(input_ids=given).logits[0]
            out = model.generate(given, attention_mask=torch.ones_like(given), do_sample=False, max_new_tokens=cases["max_tokens"],
                                 pad_token_id=model.config.eos_token_id)
        largest = max(largest, (logits - torch.tensor(want)).abs().max().item())
        greedy.append(out[0].tolist()[len(ids):])
    print(json.dumps({
        "kind": type(model).__name__,
        "missing": sorted(info["missing_keys"]),
        "unexpected": sorted(info["unexpected_keys"]),
        "same_ids": [tokenizer(text)["input_ids"] for text in cases["texts"]] == cases["ids"],
        "largest": largest,
        "same_greedy": greedy == cases["greedy"],
        "greedy": greedy,
    }))


main(*sys.argv[1:])
