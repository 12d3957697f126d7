#!/usr/bin/env python3
"""BERT-base and GPT-2 with random weights in PyTorch and ONNX Runtime: the peer of `fovea bench infer` and `bench pretrain`.
One line of JSON in, one out.

    {"do": "version"}                                                  -> {"torch": "2.x", "onnxruntime": "1.x" or ""}
    {"do": "open_encoder", "engine": "torch|ort|ort-int8", "threads": N, "folder": DIR, "layers": L, "width": D, "heads": H}
    {"do": "encode", "batches": [[length, …], …]}                      -> {"seconds": s}      each batch padded to its longest
    {"do": "open_decoder", "threads": N}
    {"do": "prompt", "length": L, "times": T}                          -> {"seconds": s}      reads L tokens, T times
    {"do": "decode", "batch": B, "prompt": L, "tokens": T}             -> {"seconds": s}      T tokens each, prompt not counted
    {"do": "open_training", "model": "bert|gpt2", "layers": L, "width": D, "heads": H, "vocabulary": V, "threads": N, "dropout": P}
    {"do": "train", "batch": B, "length": L, "steps": T}               -> {"seconds": s, "loss": l}
    {"do": "memory"}                                                   -> {"bytes": largest resident size}

Best settings: scaled_dot_product_attention, inference mode, masks left out where nothing is padded, denormals flushed, the fused
AdamW; ONNX Runtime with all graph optimisations, dynamic int8 with QInt8 weights.
"""
import os
import time

import torch
import transformers
from serve import serve
from transformer_torch import peak_bytes

transformers.logging.set_verbosity_error()


def tokens(batch, length, vocabulary=30000):
    return torch.randint(5, vocabulary, (batch, length), generator=torch.Generator().manual_seed(1))


def bert_config(job, attention):
    return transformers.BertConfig(attn_implementation=attention, hidden_size=job["width"], num_hidden_layers=job["layers"],
                                   num_attention_heads=job["heads"], intermediate_size=4 * job["width"])


class TorchEncoder:
    def __init__(self, job):
        config = bert_config(job, "sdpa")
        self.model = transformers.BertModel(config, add_pooling_layer=False).eval()

    def prepare(self, lengths):
        ids = tokens(len(lengths), max(lengths))
        mask = None
        if min(lengths) < max(lengths):
            mask = torch.tensor([[1] * n + [0] * (max(lengths) - n) for n in lengths])
        return ids, mask

    def run(self, batch):
        with torch.inference_mode():
            self.model(input_ids=batch[0], attention_mask=batch[1])


class OrtEncoder:
    def __init__(self, job):
        import onnxruntime as ort
        path = os.path.join(job["folder"], "bert.onnx")
        if not os.path.exists(path):
            export(path, job)
        if job["engine"] == "ort-int8":
            small = os.path.join(job["folder"], "bert-int8.onnx")
            if not os.path.exists(small):
                from onnxruntime.quantization import QuantType, quantize_dynamic
                quantize_dynamic(path, small, weight_type=QuantType.QInt8)
            path = small
        options = ort.SessionOptions()
        options.intra_op_num_threads = job["threads"]
        options.inter_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def prepare(self, lengths):
        ids = tokens(len(lengths), max(lengths))
        mask = torch.tensor([[1] * n + [0] * (max(lengths) - n) for n in lengths])
        return {"ids": ids.numpy(), "mask": mask.numpy()}

    def run(self, batch):
        self.session.run(None, batch)


def export(path, job):
    class Rows(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(bert_config(job, "eager"), add_pooling_layer=False).eval()

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    ids = tokens(2, 16)
    axes = {"ids": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "length"}, "rows": {0: "batch", 1: "length"}}
    torch.onnx.export(Rows().eval(), (ids, torch.ones_like(ids)), path, input_names=["ids", "mask"], output_names=["rows"],
                      dynamic_axes=axes, opset_version=17, dynamo=False)


class Server:
    def version(self, _):
        try:
            import onnxruntime
            ort = onnxruntime.__version__
        except ImportError:
            ort = ""
        return {"torch": torch.__version__.split("+")[0], "onnxruntime": ort}

    def start(self, job):
        torch.set_num_threads(job["threads"])
        torch.set_flush_denormal(True)
        torch.manual_seed(1)

    def open_encoder(self, job):
        self.start(job)
        self.encoder = TorchEncoder(job) if job["engine"] == "torch" else OrtEncoder(job)
        return {}

    def encode(self, job):
        batches = [self.encoder.prepare(lengths) for lengths in job["batches"]]
        start = time.perf_counter()
        for batch in batches:
            self.encoder.run(batch)
        return {"seconds": time.perf_counter() - start}

    def open_decoder(self, job):
        self.start(job)
        self.decoder = transformers.GPT2LMHeadModel(transformers.GPT2Config(attn_implementation="sdpa")).eval()
        return {}

    def prompt(self, job):
        ids = tokens(1, job["length"])
        with torch.inference_mode():
            start = time.perf_counter()
            for _ in range(job["times"]):
                self.decoder(input_ids=ids, use_cache=True, logits_to_keep=1)
            return {"seconds": time.perf_counter() - start}

    def decode(self, job):
        with torch.inference_mode():
            out = self.decoder(input_ids=tokens(job["batch"], job["prompt"]), use_cache=True, logits_to_keep=1)
            start = time.perf_counter()
            for _ in range(job["tokens"]):
                last = out.logits[:, -1].argmax(-1, keepdim=True)
                out = self.decoder(input_ids=last, past_key_values=out.past_key_values, use_cache=True)
            return {"seconds": time.perf_counter() - start}

    def open_training(self, job):
        self.start(job)
        if job["model"] == "bert":
            config = transformers.BertConfig(attn_implementation="sdpa", vocab_size=job["vocabulary"], hidden_size=job["width"],
                                             num_hidden_layers=job["layers"], num_attention_heads=job["heads"],
                                             intermediate_size=4 * job["width"], hidden_dropout_prob=job["dropout"],
                                             attention_probs_dropout_prob=job["dropout"], num_labels=2)
            self.trained = transformers.BertForSequenceClassification(config).train()
        else:
            config = transformers.GPT2Config(attn_implementation="sdpa", vocab_size=job["vocabulary"], n_embd=job["width"],
                                             n_layer=job["layers"], n_head=job["heads"], resid_pdrop=job["dropout"],
                                             embd_pdrop=job["dropout"], attn_pdrop=job["dropout"])
            self.trained = transformers.GPT2LMHeadModel(config).train()
        self.kind, self.vocabulary = job["model"], job["vocabulary"]
        self.adam = torch.optim.AdamW(self.trained.parameters(), lr=1e-5, fused=True)
        return {}

    def train(self, job):
        ids = tokens(job["batch"], job["length"], self.vocabulary)
        labels = ids if self.kind == "gpt2" else torch.arange(job["batch"]) % 2
        start = time.perf_counter()
        for _ in range(job["steps"]):
            self.adam.zero_grad(set_to_none=True)
            loss = self.trained(input_ids=ids, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.trained.parameters(), 1.0)
            self.adam.step()
        return {"seconds": time.perf_counter() - start, "loss": loss.item()}

    def memory(self, _):
        return {"bytes": peak_bytes()}


if __name__ == "__main__":
    serve(Server())
