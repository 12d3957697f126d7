#!/usr/bin/env python3
"""GRU and LSTM stacks in PyTorch: the peer of `fovea bench rnn`. One line of JSON in, one out.

    {"do": "version"}                                                              -> {"torch-rnn": "2.x"}
    {"do": "open", "cell": "gru|lstm", "layers": L, "width": D, "lengths": [[n, …], …], "threads": N}
    {"do": "train", "first": I, "steps": T}     batches I, I + 1, … of the lengths -> {"seconds": s}
    {"do": "decode", "rows": B, "steps": T}     each output is the next input      -> {"seconds": s}

Best settings: padded batches made and sorted by length before the clock starts, packed sequences (nothing is computed for the
padding), inference mode for steps, denormals flushed.
"""
import time

import torch
from serve import serve
from torch.nn.utils.rnn import pack_padded_sequence


class Server:
    def version(self, _):
        return {"torch-rnn": torch.__version__}

    def open(self, job):
        torch.set_num_threads(job["threads"])
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        self.width = job["width"]
        make = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[job["cell"]]
        self.model = make(self.width, self.width, job["layers"])
        self.batches = []
        for lengths in job["lengths"]:
            ordered = sorted(lengths, reverse=True)
            x = torch.randn(ordered[0], len(ordered), self.width, requires_grad=True)
            self.batches.append((x, torch.tensor(ordered)))
        return {}

    def train(self, job):
        begin = time.perf_counter()
        for i in range(job["first"], job["first"] + job["steps"]):
            x, lengths = self.batches[i % len(self.batches)]
            x.grad = None
            self.model.zero_grad(set_to_none=True)
            y = self.model(pack_padded_sequence(x, lengths))[0].data
            y.backward(torch.ones_like(y))
        return {"seconds": time.perf_counter() - begin}

    def decode(self, job):
        x, state = torch.randn(1, job["rows"], self.width), None
        begin = time.perf_counter()
        with torch.inference_mode():
            for _ in range(job["steps"]):
                x, state = self.model(x, state)
        return {"seconds": time.perf_counter() - begin}


serve(Server())
