#!/usr/bin/env python3
"""GPT-2 (124M shapes, random weights) in llama.cpp: the peer of `fovea bench infer` for reading and writing one text.
One line of JSON in, one out. Needs llama-cpp-python and gguf.

    {"do": "version"}                                                  -> {"llama_cpp": "0.3.x" or ""}
    {"do": "open_decoder", "engine": "f32|f16|q8_0", "threads": N, "folder": DIR}
    {"do": "prompt", "length": L, "times": T}                          -> {"seconds": s}      reads L tokens, T times
    {"do": "decode", "batch": 1, "prompt": L, "tokens": T}             -> {"seconds": s}      T tokens, prompt not counted

The file is written once a folder and engine: matrices in the engine's format, norms, biases and positions in f32. Build llama.cpp
with the machine's own instructions (CMAKE_ARGS="-DGGML_NATIVE=ON") for a fair figure.
"""
import os
import time

import numpy as np
from serve import serve

LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 12, 768, 12, 50257, 1024


def write_model(path, engine):
    import gguf
    kind = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16,
            "q8_0": gguf.GGMLQuantizationType.Q8_0}[engine]
    out = gguf.GGUFWriter(path + ".part", "gpt2")
    out.add_block_count(LAYERS)
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(4 * WIDTH)
    out.add_head_count(HEADS)
    out.add_layer_norm_eps(1e-5)
    out.add_vocab_size(VOCABULARY)
    out.add_tokenizer_model("no_vocab")
    random = np.random.default_rng(1)

    def matrix(name, rows, columns):
        values = (random.standard_normal((rows, columns), dtype=np.float32) * 0.02)
        out.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    def row(name, size, value=0.0):
        out.add_tensor(name, np.full(size, value, dtype=np.float32))

    def linear(name, rows, columns):
        matrix(name + ".weight", rows, columns)
        row(name + ".bias", rows)

    def norm(name):
        row(name + ".weight", WIDTH, 1.0)
        row(name + ".bias", WIDTH)

    matrix("token_embd.weight", VOCABULARY, WIDTH)  # the head is tied to it
    out.add_tensor("position_embd.weight", random.standard_normal((CONTEXT, WIDTH), dtype=np.float32) * 0.02)
    for i in range(LAYERS):
        norm(f"blk.{i}.attn_norm")
        linear(f"blk.{i}.attn_qkv", 3 * WIDTH, WIDTH)
        linear(f"blk.{i}.attn_output", WIDTH, WIDTH)
        norm(f"blk.{i}.ffn_norm")
        linear(f"blk.{i}.ffn_up", 4 * WIDTH, WIDTH)
        linear(f"blk.{i}.ffn_down", WIDTH, 4 * WIDTH)
    norm("output_norm")
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    os.rename(path + ".part", path)


class Server:
    def version(self, _):
        try:
            import gguf  # noqa: F401
            import llama_cpp
            return {"llama_cpp": llama_cpp.__version__}
        except ImportError:
            return {"llama_cpp": ""}

    def open_decoder(self, job):
        import llama_cpp
        self.api = llama_cpp
        path = os.path.join(job["folder"], f"gpt2-{job['engine']}.gguf")
        if not os.path.exists(path):
            write_model(path, job["engine"])
        self.quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self.quiet, None)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise RuntimeError("llama.cpp does not open the model")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = CONTEXT
        params.n_batch = params.n_ubatch = 512
        params.n_threads = params.n_threads_batch = job["threads"]
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")
        return {}

    def fresh(self):
        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)

    def read(self, tokens):
        row = (self.api.llama_token * len(tokens))(*tokens)
        if self.api.llama_decode(self.context, self.api.llama_batch_get_one(row, len(tokens))) != 0:
            raise RuntimeError("llama.cpp does not decode")
        return np.ctypeslib.as_array(self.api.llama_get_logits_ith(self.context, -1), shape=(VOCABULARY,))

    def tokens(self, length):
        return np.random.default_rng(2).integers(5, 30000, length).tolist()

    def prompt(self, job):
        tokens = self.tokens(job["length"])
        start = time.perf_counter()
        for _ in range(job["times"]):
            self.fresh()
            self.read(tokens)
        return {"seconds": time.perf_counter() - start}

    def decode(self, job):
        self.fresh()
        last = int(self.read(self.tokens(job["prompt"])).argmax())
        start = time.perf_counter()
        for _ in range(job["tokens"]):
            last = int(self.read([last]).argmax())
        return {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    serve(Server())
