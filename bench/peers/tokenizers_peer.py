#!/usr/bin/env python3
"""The peers of `fovea bench tokenizers`: answers one line of JSON to every line of JSON it reads.

{"do": "version"}                                 -> {"tokenizers": "...", "sentencepiece": "..."}
{"do": "text", "file": F}                         the lines to work on
{"do": "open", "kind": K, "file": F}              K: tokenizers (tokenizer.json, vocab.txt) or sentencepiece
{"do": "encode"}                                  -> {"seconds": s, "tokens": n}
{"do": "encode_fast"}                             the same without offsets (tokenizers)
{"do": "train", "vocab_size": N, "file": F}       byte-level BPE -> {"seconds": s}
{"do": "load", "file": F}                         -> {"seconds": s}

The number of threads comes from RAYON_NUM_THREADS and TOKENIZERS_PARALLELISM.
"""
import time

import sentencepiece
import tokenizers
from serve import serve

CHUNK = 1000  # lines a call, as on the other side


class Peer:
    def __init__(self):
        self.chunks = []
        self.encode_chunk = None
        self.encode_chunk_fast = None

    def version(self, _):
        return {"tokenizers": tokenizers.__version__, "sentencepiece": sentencepiece.__version__}

    def text(self, job):
        with open(job["file"], encoding="utf-8", newline="\n") as f:
            lines = f.read().split("\n")
        self.chunks = [lines[i : i + CHUNK] for i in range(0, len(lines), CHUNK)]
        return {"lines": len(lines)}

    def open(self, job):
        path = job["file"]
        if job["kind"] == "sentencepiece":
            sp = sentencepiece.SentencePieceProcessor(model_file=path)
            self.encode_chunk = self.encode_chunk_fast = lambda lines: sp.encode(lines, num_threads=1)
            self.count = len
            return {"ok": True}
        if path.endswith(".txt"):
            t = tokenizers.BertWordPieceTokenizer(path)._tokenizer
        else:
            t = tokenizers.Tokenizer.from_file(path)
        t.no_padding()
        t.no_truncation()
        self.encode_chunk = t.encode_batch
        self.encode_chunk_fast = t.encode_batch_fast
        self.count = lambda e: len(e.ids)
        return {"ok": True}

    def timed(self, encode):
        seconds = 0.0
        tokens = 0
        for chunk in self.chunks:
            start = time.perf_counter()
            encodings = encode(chunk)
            seconds += time.perf_counter() - start
            tokens += sum(self.count(e) for e in encodings)
        return {"seconds": seconds, "tokens": tokens}

    def encode(self, _):
        return self.timed(self.encode_chunk)

    def encode_fast(self, _):
        return self.timed(self.encode_chunk_fast)

    def train(self, job):
        from tokenizers import models, pre_tokenizers, trainers

        t = tokenizers.Tokenizer(models.BPE())
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=job["vocab_size"], min_frequency=2, show_progress=False,
            special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        start = time.perf_counter()
        t.train([job["file"]], trainer)
        return {"seconds": time.perf_counter() - start, "tokens": t.get_vocab_size()}

    def load(self, job):
        start = time.perf_counter()
        tokenizers.Tokenizer.from_file(job["file"])
        return {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    serve(Peer())
