#!/usr/bin/env python3
"""CTranslate2 as the peer of `fovea bench translate`: answers one line of JSON to every line of JSON it reads.

{"do": "version"}                                        -> {"ctranslate2": "4.x"}
{"do": "convert", "model": DIR, "out": DIR}              a Marian-layout folder of Fovea's to CTranslate2's format
{"do": "open", "folder": DIR, "compute_type": T, "layouts": [[translators, threads of each], …], "sources": FILE}
{"do": "run", "layout": I, "first": I, "count": N, "beam": B, "length": L, "batch": S}
        translates sources [I, I + N) to L tokens each   -> {"seconds": s, "tokens": n, "ids": of the first source}

Vocabulary entries are the ids themselves, so that no tokenizer is needed; FILE has one list of ids a line.
"""
import json
import os
import time

import ctranslate2
from serve import serve


class Server:
    def version(self, _):
        return {"ctranslate2": ctranslate2.__version__}

    def convert(self, job):
        from ctranslate2.converters.transformers import BartLoader
        from transformers import MarianMTModel

        model = MarianMTModel.from_pretrained(job["model"]).eval()
        model.config.normalize_before = False
        model.config.normalize_embedding = False
        # Bart's loader, not Marian's: that one drops the last token and starts from a zero embedding.
        spec = BartLoader().get_model_spec(model)
        tokens = [str(i) for i in range(model.config.vocab_size)]
        spec.register_source_vocabulary(tokens)
        spec.register_target_vocabulary(tokens)
        spec.config.unk_token = "2"
        spec.config.bos_token = spec.config.eos_token = str(model.config.eos_token_id)
        spec.config.decoder_start_token = str(model.config.decoder_start_token_id)
        spec.config.add_source_eos = False
        spec.validate()
        spec.optimize()
        os.makedirs(job["out"], exist_ok=True)
        spec.save(job["out"])
        return {"ok": True}

    def open(self, job):
        with open(job["sources"]) as f:
            self.sources = [[str(i) for i in json.loads(line)] for line in f]
        self.translators = [
            ctranslate2.Translator(job["folder"], compute_type=job["compute_type"], inter_threads=inter, intra_threads=intra)
            for inter, intra in job["layouts"]]
        return {"ok": True}

    def run(self, job):
        n = len(self.sources)
        sources = [self.sources[i % n] for i in range(job["first"], job["first"] + job["count"])]
        start = time.perf_counter()
        found = self.translators[job["layout"]].translate_batch(
            sources, beam_size=job["beam"], max_batch_size=job["batch"], min_decoding_length=job["length"],
            max_decoding_length=job["length"], return_scores=False)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "tokens": sum(len(r.hypotheses[0]) for r in found),
                "ids": [int(t) for t in found[0].hypotheses[0]]}


if __name__ == "__main__":
    serve(Server())
