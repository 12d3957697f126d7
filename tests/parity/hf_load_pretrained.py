"""What Hugging Face transformers makes of a folder that `fovea train --task pretrain` wrote: hf_load_pretrained.py MODEL CASES.json

CASES: texts (one or two each), ids and types (Fovea's), words (logits, row by row) and, where the model has learnt it, next
(two logits). The class is the one that config.json names. Prints one JSON object with the differences."""
import json
import sys

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer

torch.set_num_threads(1)


def difference(got, want):
    return (got.reshape(-1) - torch.tensor(want).reshape(-1)).abs().max().item()


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    kind = AutoConfig.from_pretrained(folder).architectures[0]
    auto = {"BertForPreTraining": transformers.AutoModelForPreTraining, "BertForMaskedLM": transformers.AutoModelForMaskedLM,
            "RobertaForMaskedLM": transformers.AutoModelForMaskedLM}.get(kind, transformers.AutoModelForCausalLM)
    model, info = auto.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = [tokenizer(*texts, return_token_type_ids=True) for texts in cases["texts"]]
    largest, largest_next = 0.0, 0.0
    for i, want in enumerate(cases["words"]):
        given = dict(input_ids=torch.tensor([cases["ids"][i]]))
        if model.config.model_type in ("bert", "xlnet"):
            given["token_type_ids"] = torch.tensor([cases["types"][i]])
        with torch.no_grad():
            out = model(**given)
        words = out.prediction_logits if hasattr(out, "prediction_logits") else out.logits
        largest = max(largest, difference(words[0], want))
        if cases["next"]:
            largest_next = max(largest_next, difference(out.seq_relationship_logits[0], cases["next"][i]))
    print(json.dumps({
        "class": type(model).__name__,
        "missing": sorted(info["missing_keys"]),
        "unexpected": sorted(info["unexpected_keys"]),
        "ids": [e["input_ids"] for e in encoded],
        "types": [e["token_type_ids"] for e in encoded],
        "mask": tokenizer.mask_token_id,
        "end": tokenizer.eos_token_id,
        "decoded": [tokenizer.decode(ids, skip_special_tokens=True) for ids in cases["ids"]],
        "largest": largest,
        "largest_next": largest_next,
    }))


main(*sys.argv[1:])
