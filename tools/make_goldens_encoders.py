#!/usr/bin/env python3
"""Makes the parity goldens of BERT and RoBERTa under tests/goldens: tiny random-weight models of Hugging Face
transformers. A folder as save_pretrained writes it (all of BERT's pretraining model; RoBERTa's masked model), and
for each head a file: the head's own parameters (param.*), logits, loss, every gradient (grad.*) and the losses of
ten steps of AdamW. Everything is computed in float64; gradients are stored as float32.

usage: tools/make_goldens_encoders.py [OUT]        needs torch, transformers, safetensors (versions are recorded)
"""
import functools
import os
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import BertConfig, RobertaConfig

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")
SEQUENCES = [[2, 9, 21, 4, 17, 3, 8, 3], [2, 3], [2, 11, 12, 13, 14, 3, 16, 18, 19, 20, 4, 22, 3]]
TYPES = [[0, 0, 0, 0, 0, 0, 1, 1], [0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]]
WORDS = [[-100, -100, 25, -100, 17, -100, -100, -100], [-100, 5], [-100, 26, 12, -100, -100, -100, -100, 6, -100, -100, 27, -100, -100]]
TAGS = [[-100, 0, 1, 2, 2, -100, 0, -100], [1, 2], [-100, 2, 2, 1, 0, -100, 1, 1, 0, 0, 2, 1, -100]]
CLASSES, NEXT, BEGINS, ENDS = [3, 0, 1], [0, 1, 1], [2, 0, 7], [4, 1, 7]
SIZES = dict(vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20,
             hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.02, attn_implementation="eager")


def pad(rows, value):
    n = max(map(len, rows))
    return torch.tensor([r + [value] * (n - len(r)) for r in rows])


def randomise(model, seed):
    """Random values that float32 can hold, from a name's own stream: the body is the same under every head."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            g = torch.Generator().manual_seed(seed + sum(ord(c) * (i + 1) for i, c in enumerate(name)))
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.2
            if name.lower().endswith(("layernorm.weight", "layer_norm.weight")):
                noise = 1 + noise
            p.copy_(noise.float().double())


def inputs_of(model, rows):
    ids = pad([SEQUENCES[i] for i in rows], model.config.pad_token_id)
    mask = pad([[1] * len(SEQUENCES[i]) for i in rows], 0)
    given = dict(input_ids=ids, attention_mask=mask)
    if model.config.model_type == "bert":
        given["token_type_ids"] = pad([TYPES[i] for i in rows], 0)
    return given


def restarted(types):
    return [at - types.index(1) + 1 if t else at for at, t in enumerate(types)]


def unpadded(logits):
    return torch.cat([logits[i, : len(s)] for i, s in enumerate(SEQUENCES)])


def run(model, head):
    """The logits of all rows (or sequences), and the loss as transformers computes it."""
    everything = range(len(SEQUENCES))
    given = inputs_of(model, everything)
    if head == "spans":  # its softmax would run over padding: one sequence at a time
        each = [model(**inputs_of(model, [i]), start_positions=torch.tensor([BEGINS[i]]), end_positions=torch.tensor([ENDS[i]]))
                for i in everything]
        rows = torch.cat([torch.stack([o.start_logits[0], o.end_logits[0]], 1) for o in each])
        return {"logits": rows}, sum(o.loss for o in each) / len(each)
    if head == "classes":
        out = model(**given, labels=torch.tensor(CLASSES))
        return {"logits": out.logits}, out.loss
    if head == "next":
        out = model(**given, labels=torch.tensor(NEXT))
        return {"logits": out.logits}, out.loss
    if head == "words_and_next":
        out = model(**given, labels=pad(WORDS, -100), next_sentence_label=torch.tensor(NEXT))
        return {"logits": unpadded(out.prediction_logits), "next": out.seq_relationship_logits}, out.loss
    if head == "translations":  # the second text is a translation: its positions begin again behind those of [CLS]
        given["position_ids"] = pad([restarted(t) for t in TYPES], 0)
    out = model(**given, labels=pad(TAGS if head == "tags" else WORDS, -100))
    return {"logits": unpadded(out.logits)}, out.loss


def ten_steps(model, head):
    """AdamW: learning rate 1e-3, weight decay 0.01 on matrices alone, gradients clipped to norm 1."""
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        _, loss = run(model, head)
        losses.append(loss.item())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
        opt.step()
    return losses


def golden(folder, model, head):
    prefix = model.config.model_type + "."
    model = model.double().eval()
    randomise(model, 7)
    tensors = {"param." + n: p.detach().float() for n, p in model.named_parameters() if not n.startswith(prefix)}
    found, loss = run(model, head)
    loss.backward()
    tensors.update({name: t.detach() for name, t in found.items()})
    tensors["loss"] = loss.detach().reshape(1)
    for n, p in model.named_parameters():
        if p.grad is not None:
            tensors["grad." + n] = p.grad.detach().float()
    losses = ten_steps(model, head)
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    save_file({k: v.contiguous().clone() for k, v in tensors.items()}, os.path.join(folder, head + ".safetensors"),
              {"torch": torch.__version__, "transformers": transformers.__version__})
    print(os.path.basename(folder), head, "loss", losses[0], "->", losses[-1])


def flat(rows):
    return torch.tensor([x for r in rows for x in r])


def family(name, make_config, classes, saved):
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    for head, architecture in classes.items():
        labels = 4 if head == "classes" else 3 if head == "tags" else 2
        golden(folder, getattr(transformers, architecture)(make_config(num_labels=labels)), head)
    whole = getattr(transformers, classes[saved])(make_config()).double()
    randomise(whole, 7)
    whole.float().save_pretrained(folder)
    if os.path.exists(os.path.join(folder, "generation_config.json")):
        os.remove(os.path.join(folder, "generation_config.json"))
    save_file({"tokens": flat(SEQUENCES), "types": flat(TYPES), "lengths": torch.tensor([len(s) for s in SEQUENCES]),
               "words": flat(WORDS), "tags": flat(TAGS), "classes": torch.tensor(CLASSES), "next": torch.tensor(NEXT),
               "begins": torch.tensor(BEGINS), "ends": torch.tensor(ENDS)}, os.path.join(folder, "batch.safetensors"))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)  # on a busy machine two threads wait for each other a thousand times longer
    family("bert-tiny", functools.partial(BertConfig, **SIZES, max_position_embeddings=16, pad_token_id=0),
           {"classes": "BertForSequenceClassification", "tags": "BertForTokenClassification", "spans": "BertForQuestionAnswering",
            "words": "BertForMaskedLM", "translations": "BertForMaskedLM", "words_and_next": "BertForPreTraining", "next": "BertForNextSentencePrediction"},
           "words_and_next")
    # gelu_new in the blocks: the head of the masked model keeps to the exact form whatever hidden_act says
    family("roberta-tiny", functools.partial(RobertaConfig, **SIZES, max_position_embeddings=18, pad_token_id=1, type_vocab_size=1,
                                                            layer_norm_eps=1e-5, hidden_act="gelu_new"),
           {"classes": "RobertaForSequenceClassification", "tags": "RobertaForTokenClassification",
            "spans": "RobertaForQuestionAnswering", "words": "RobertaForMaskedLM"}, "words")


main()
