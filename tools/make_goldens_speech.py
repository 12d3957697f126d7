#!/usr/bin/env python3
"""Makes tests/goldens/speech.json (log-mel features of WhisperFeatureExtractor, ctc_loss of PyTorch, error rates of
jiwer) and tests/goldens/whisper-tiny: a tiny random-weight Whisper of Hugging Face transformers with the logits, loss
and every gradient of its recognition and classification heads (float64), and ten training steps.

usage: tools/make_goldens_speech.py FSDD_RECORDINGS [OUT]
needs torch, transformers, safetensors, jiwer (versions are recorded)
"""
import json
import os
import random
import sys
import wave

import jiwer
import numpy as np
import torch
import transformers
from importlib.metadata import version
from safetensors.torch import save_file
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForAudioClassification, WhisperForConditionalGeneration

RECORDINGS = sys.argv[1]
OUT = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "tests", "goldens")


def log_mel():
    """8 kHz samples are handed over as if they were 16 kHz ones: numbers are numbers."""
    out = []
    for name, bands in [("3_george_0", 80), ("7_theo_2", 40)]:
        with wave.open(os.path.join(RECORDINGS, name + ".wav")) as f:
            samples = np.frombuffer(f.readframes(10**9), dtype="<i2")[:2600]
        extractor = WhisperFeatureExtractor(feature_size=bands)
        y = extractor((samples / 32768).astype(np.float32), sampling_rate=16000, padding="do_not_pad", truncation=False)
        y = np.asarray(y.input_features[0], dtype=np.float64)
        out.append({"clip": name, "bands": bands, "samples": samples.tolist(),
                    "features": [round(float(v), 6) for v in y.reshape(-1)]})
    return out


def ctc():
    """Repeats, empty targets, targets too long for their frames (zero_infinity)."""
    out = []
    g = torch.Generator().manual_seed(3)
    for classes, frames, targets, labels in [
        (5, [6, 4, 3, 2], [3, 0, 2, 2], [1, 1, 2, 3, 3, 4, 4]),
        (11, [20, 9, 1], [7, 9, 1], [3, 3, 3, 1, 2, 10, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 4]),
    ]:
        logits = [torch.randn(n, classes, generator=g, dtype=torch.float64).float().double() * 2 for n in frames]
        packed = torch.cat(logits).float().double().requires_grad_()
        padded = torch.zeros(max(frames), len(frames), classes, dtype=torch.float64)
        rows, at = [], 0
        for n in frames:
            rows.append(packed[at:at + n].log_softmax(-1))
            at += n
        padded = torch.stack([torch.cat([r, padded[:max(frames) - len(r), 0]]) for r in rows], 1)
        loss = torch.nn.functional.ctc_loss(padded, torch.tensor(labels), tuple(frames), tuple(targets), zero_infinity=True)
        loss.backward()
        out.append({"classes": classes, "frames": frames, "targets": targets, "labels": labels,
                    "logits": packed.detach().reshape(-1).tolist(), "loss": loss.item(),
                    "gradient": packed.grad.reshape(-1).tolist()})
    return out


def wer():
    pairs = [("", ""), ("", "a b"), ("a b", ""), ("a  b c ", " a b x c"), ("a b", "b a"), ("the cat sat", "the cat  sat on"),
             ("ß x", "ss x"), ("one one two", "one two two"), ("a b c d", "b c d e"), ("x", "x x"), ("x x", "x"),
             ("a b c", "c b a"), ("日本 語", "日 本語"), ("é", "é"), ("A b", "a b")]
    rng = random.Random(5)
    for _ in range(60):
        draw = lambda: " ".join(rng.choice(["a", "b", "cc", "dd"]) for _ in range(rng.randrange(0, 9)))
        pairs.append((draw(), draw()))
    out = []
    for r, h in pairs:
        w, c = jiwer.process_words(r, h), jiwer.process_characters(r, h)
        counts = lambda o: [o.hits, o.substitutions, o.deletions, o.insertions]
        out.append({"reference": r, "hypothesis": h, "words": counts(w), "wer": float(w.wer), "characters": counts(c),
                    "cer": float(c.cer)})
    return out


FRAMES = 14  # of features: 7 positions, all that the config has
BASE = dict(vocab_size=19, num_mel_bins=6, d_model=12, encoder_layers=2, encoder_attention_heads=2, decoder_layers=2,
            decoder_attention_heads=3, encoder_ffn_dim=20, decoder_ffn_dim=16, max_source_positions=FRAMES // 2,
            max_target_positions=9, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, encoder_layerdrop=0.0,
            decoder_layerdrop=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
            begin_suppress_tokens=None, suppress_tokens=None, apply_spec_augment=False, use_weighted_layer_sum=False,
            classifier_proj_size=10, num_labels=4)


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("encoder.embed_positions.weight"):
                p.copy_(p.float().double())
                continue  # sines
            noise = torch.randn(p.shape, generator=g, dtype=torch.float64) * 0.3
            p.copy_((1 + noise if "layer_norm" in name and name.endswith("weight") else noise).float().double())


def whisper():
    folder = os.path.join(OUT, "whisper-tiny")
    os.makedirs(folder, exist_ok=True)
    g = torch.Generator().manual_seed(1)
    sounds = torch.randn(3, 6, FRAMES, generator=g, dtype=torch.float64).float().double()
    texts = [[1, 5, 9, 3, 2], [1, 7], [1, 4, 4, 4, 11, 18, 3, 2]]
    golden = {"features": sounds.float(), "classes.labels": torch.tensor([2, 0, 3])}
    golden["words.input"] = torch.tensor(sum([t[:-1] for t in texts], []))
    golden["words.labels"] = torch.tensor(sum([t[1:] for t in texts], []))
    golden["words.lengths"] = torch.tensor([len(t) - 1 for t in texts])

    def words_loss(model):
        rows, labels = [], []
        for x, t in zip(sounds, texts):
            rows.append(model(input_features=x[None], decoder_input_ids=torch.tensor([t[:-1]])).logits[0])
            labels += t[1:]
        rows = torch.cat(rows)
        return rows, torch.nn.functional.cross_entropy(rows, torch.tensor(labels))

    def classes_loss(model):
        rows = torch.cat([model(input_features=x[None]).logits for x in sounds])
        return rows, torch.nn.functional.cross_entropy(rows, golden["classes.labels"])

    for head, kind, loss_of in [("words", WhisperForConditionalGeneration, words_loss),
                                ("classes", WhisperForAudioClassification, classes_loss)]:
        torch.manual_seed(0)
        model = kind(WhisperConfig(**BASE)).double().eval()
        randomise(model, 7)
        model.float().save_pretrained(os.path.join(folder, head))
        model.double()
        rows, loss = loss_of(model)
        golden[head + ".logits"], golden[head + ".loss"] = rows.detach().float(), loss.detach().reshape(1).float()
        loss.backward()
        for name, p in model.named_parameters():
            if p.grad is not None:
                golden[f"{head}.gradient.{name}"] = p.grad.float()
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW([{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
                                       {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0}],
                                      lr=3e-3, betas=(0.9, 0.98), eps=1e-9)
        losses = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = loss_of(model)[1]
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
        golden[head + ".losses"] = torch.tensor(losses)
    about = {"torch": torch.__version__, "transformers": transformers.__version__}
    save_file({k: v.contiguous() for k, v in golden.items()}, os.path.join(folder, "golden.safetensors"), metadata=about)


def generation():
    """What transformers' Whisper says of sounds, with the prompts, languages and forbidden tokens of a published folder."""
    folder = os.path.join(OUT, "whisper-tiny")
    model = WhisperForConditionalGeneration.from_pretrained(os.path.join(folder, "words")).eval()
    habits = {"is_multilingual": True, "lang_to_id": {"<|en|>": 13, "<|de|>": 14, "<|zh|>": 15},
              "task_to_id": {"transcribe": 16, "translate": 17}, "no_timestamps_token_id": 18,  # times would follow it
              "suppress_tokens": [1, 3, 13, 14, 15, 16, 17, 18], "begin_suppress_tokens": [4, 2], "decoder_start_token_id": 1, "eos_token_id": 2,
              "pad_token_id": 0, "bos_token_id": 1, "max_length": None}
    for key, value in habits.items():
        setattr(model.generation_config, key, value)
    g = torch.Generator().manual_seed(2)
    sounds = torch.randn(12, 6, FRAMES, generator=g)
    cases = []
    for language, task in [("en", "transcribe"), ("de", "translate"), (None, "transcribe")]:
        for x in sounds:
            ids = model.generate(input_features=x[None], language=language, task=task, return_timestamps=False,
                                 num_beams=1, do_sample=False, max_new_tokens=5)[0].tolist()
            cases.append({"language": language, "task": task, "ids": ids})
    with open(os.path.join(folder, "generation.json"), "w") as f:
        json.dump({"versions": {"torch": torch.__version__, "transformers": transformers.__version__}, "habits": habits,
                   "sounds": [[float(f"{v:.7g}") for v in x.T.reshape(-1).tolist()] for x in sounds], "cases": cases}, f)


with open(os.path.join(OUT, "speech.json"), "w") as f:
    json.dump({"versions": {"torch": torch.__version__, "transformers": transformers.__version__, "jiwer": version("jiwer")},
               "log_mel": log_mel(), "ctc": ctc(), "wer": wer()}, f)
whisper()
generation()
