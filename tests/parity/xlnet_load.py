"""What Hugging Face transformers makes of an XLNet that Fovea saved: xlnet_load.py MODEL CASES.json

CASES: tokens, types; logits (Fovea's, of the content stream's rows), next_logits (of the token behind the text) and
generated (greedy, reading the text anew, and with mems). Prints one JSON object with the differences."""
import json
import sys

import torch
from transformers import XLNetLMHeadModel


def main(folder, cases_path):
    cases = json.load(open(cases_path, encoding="utf-8"))
    model, info = XLNetLMHeadModel.from_pretrained(folder, output_loading_info=True)
    model.eval()
    largest, same = 0.0, True
    for case in cases:
        tokens = torch.tensor([case["tokens"]])
        with torch.no_grad():
            logits = model(tokens, token_type_ids=torch.tensor([case["types"]])).logits[0]
            for mems, want in ((False, case["generated"]), (True, case["generated_mems"])):
                model.config.use_mems_eval = mems
                out = model.generate(tokens, max_new_tokens=len(want), do_sample=False, num_beams=1, eos_token_id=None)
                same &= out[0, tokens.shape[1]:].tolist() == want
        largest = max(largest, (logits - torch.tensor(case["logits"])).abs().max().item())
    print(json.dumps({"missing": sorted(info["missing_keys"]), "unexpected": sorted(info["unexpected_keys"]),
                      "largest": largest, "same_text": same}))


main(*sys.argv[1:])
