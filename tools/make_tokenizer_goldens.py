#!/usr/bin/env python3
"""Goldens for Fovea's tokenizers: what the reference libraries make of the same lines.

Run from the project's root, with the Python that has `tokenizers`, `sentencepiece` and `numpy`:

    ninja -C build/release fovea golden_lines
    python3 tools/make_tokenizer_goldens.py train     # the small tokenizers of tests/text/tokenizers
    python3 tools/make_tokenizer_goldens.py goldens   # tests/text/goldens, for those and ../shared
    python3 tools/make_tokenizer_goldens.py hash TOKENIZER LINES.jsonl OUT   # one, for the slow test
    python3 tools/make_tokenizer_goldens.py train-peer TOKENIZER.json TEXT OUT [MAX_TOKEN_LENGTH]
                                                      # trained anew by `tokenizers`, for the slow test
    python3 tools/make_tokenizer_goldens.py compare-unigram TOKENIZER.json TEXT   # with SentencePiece

A golden file is one line of JSON (library, version, number of hashes of each part) followed by
64-bit little-endian hashes: for every line its ids and offsets; for every 4th line the decoded
text; for every 8th line the pair of it and the next one with type ids, word ids and special-token
mask. SentencePiece: ids, and the decoded text. See tests/text/golden_lines.h for the hash.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import sentencepiece
import tokenizers

# The versions the committed goldens were made with. Another version may be right to differ.
PINNED = {"tokenizers": "0.23.3", "sentencepiece": "0.2.2"}

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "tests", "text")
SHARED = os.path.join(ROOT, "..", "shared", "tokenizers")
BIN = os.path.join(ROOT, "build", "release", "bin")
P = 0x9E3779B97F4A7C15


class LineHash:
    """h = h * P + (v + 1) modulo 2^64 over all values, by powers of P."""

    powers = np.ones(1, dtype=np.uint64)

    def __init__(self):
        self.values = []

    def add(self, values, with_size=True):
        values = np.asarray(values, dtype=np.int64).reshape(-1)
        if with_size:
            self.values.append(np.array([len(values)], dtype=np.int64))
        self.values.append(values)
        return self

    def value(self):
        v = (np.concatenate(self.values) + 1).astype(np.uint64)
        if len(LineHash.powers) < len(v):
            n = 2 * len(v)
            powers = np.full(n, P, dtype=np.uint64)
            powers[0] = 1
            LineHash.powers = np.multiply.accumulate(powers)
        return int((v * LineHash.powers[: len(v)][::-1]).sum(dtype=np.uint64))


def offsets_of(e):
    return [x for pair in e.offsets for x in pair]


def hash_encoding(e):
    return LineHash().add(e.ids).add(offsets_of(e), with_size=False).value()


def hash_pair(e):
    words = [-1 if w is None else w for w in e.word_ids]
    return (
        LineHash().add(e.ids).add(offsets_of(e), with_size=False)
        .add(e.type_ids).add(words).add(e.special_tokens_mask).value()
    )


def hash_text(text):
    return LineHash().add(np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64)).value()


def bert_from_vocab(path):
    """What BertTokenizerFast makes of a vocab.txt."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    t = Tokenizer(models.WordPiece.from_file(path, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.add_special_tokens([AddedToken(m, special=True, normalized=False) for m in marks])
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(m, t.token_to_id(m)) for m in ("[CLS]", "[SEP]")])
    return t


def load_tokenizer(path):
    if path.endswith(".txt"):
        return bert_from_vocab(path)
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return tokenizers.Tokenizer.from_buffer(f.read())


def load_sentencepiece(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return sentencepiece.SentencePieceProcessor(model_proto=f.read())


def write(out, header, parts):
    header["parts"] = [len(p) for p in parts]
    with open(out, "wb") as f:
        f.write(json.dumps(header).encode() + b"\n")
        for p in parts:
            f.write(np.array(p, dtype="<u8").tobytes())


def make_hashes(path, lines, out):
    name = os.path.basename(path)
    if ".model" in name:
        sp = load_sentencepiece(path)
        ids = [sp.encode(line) for line in lines]
        header = {"tokenizer": name, "library": "sentencepiece", "version": sentencepiece.__version__}
        write(out, header, [[LineHash().add(i).value() for i in ids],
                            [hash_text(sp.decode(i)) for i in ids[::4]]])
    else:
        t = load_tokenizer(path)
        t.no_padding()
        t.no_truncation()
        encodings = t.encode_batch(lines)
        pairs = [t.encode(lines[i], lines[i + 1]) for i in range(0, len(lines) - 1, 8)]
        header = {"tokenizer": name, "library": "tokenizers", "version": tokenizers.__version__}
        write(out, header, [[hash_encoding(e) for e in encodings],
                            [hash_text(t.decode(e.ids)) for e in encodings[::4]],
                            [hash_pair(e) for e in pairs]])
    print(f"{out}: {len(lines)} lines", file=sys.stderr)


def read_lines(seed=None):
    command = [os.path.join(BIN, "golden_lines")] + ([str(seed)] if seed else [])
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [json.loads(x) for x in text.split("\n")[:-1]]


# Name, recipe, vocabulary, further flags. Small, but every kind.
TRAINED = [
    ("bert-uncased.json", "bert-uncased", 1500, []),
    ("bert-cased.json", "bert-cased", 1500, []),
    ("gpt2.json", "gpt2", 1500, []),
    ("roberta.json", "roberta", 1200, []),
    ("gpt.json", "gpt", 1500, []),
    ("albert.json", "albert", 2500, ["--limit-alphabet", "1500"]),
    ("xlnet.json", "xlnet", 2500, ["--limit-alphabet", "1500"]),
    ("t5.json", "t5", 2500, ["--limit-alphabet", "1500"]),
    ("llama.json", "llama", 2000, ["--limit-alphabet", "800"]),
    ("word.json", "word", 1500, []),
    ("t5.model", "t5", 2500, ["--limit-alphabet", "1500"]),
    ("llama.model", "llama", 2000, ["--limit-alphabet", "800"]),
]


def train():
    os.makedirs(os.path.join(HERE, "tokenizers"), exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text.txt")
        with open(text, "w", newline="") as f:  # other lines than those of the goldens
            f.write("\n".join(read_lines(7)[:10000]) + "\n")
        for name, recipe, size, flags in TRAINED:
            out = os.path.join(folder, name)
            subprocess.run([os.path.join(BIN, "fovea"), "-q", "tokenizer", "train", text, "--like",
                            recipe, "--vocab-size", str(size), "--out", out] + flags, check=True)
            with open(out, "rb") as f, open(os.path.join(HERE, "tokenizers", name + ".gz"), "wb") as z:
                z.write(gzip.compress(f.read(), 9, mtime=0))
            print(f"{name}: {os.path.getsize(out)} bytes", file=sys.stderr)


def goldens():
    for library, version in PINNED.items():
        found = {"tokenizers": tokenizers, "sentencepiece": sentencepiece}[library].__version__
        if found != version:
            sys.exit(f"{library} is {found}, but the goldens are made with {version}")
    lines = read_lines()
    os.makedirs(os.path.join(HERE, "goldens"), exist_ok=True)
    jobs = [(os.path.join(HERE, "tokenizers", n), n[:-3])
            for n in sorted(os.listdir(os.path.join(HERE, "tokenizers"))) if n.endswith(".gz")]
    if os.path.isdir(SHARED):
        jobs += [(os.path.join(SHARED, n), "shared-" + n.replace("/", "-")) for n in (
            "bert-base-uncased/vocab.txt", "gpt2/tokenizer.json", "albert-base-v2/spiece.model",
            "sentencepiece-test/test_model.model",
            "sentencepiece-test/test_sentencepiece.model",
            "sentencepiece-test/test_sentencepiece_bpe.model",
            "sentencepiece-test/test_sentencepiece_bpe_char.model",
            "sentencepiece-test/test_sentencepiece_with_bytefallback.model")]
    for path, name in jobs:
        make_hashes(path, lines, os.path.join(HERE, "goldens", name + ".hashes"))


def train_peer(ours, text, out, max_token_length=None):
    """The same vocabulary learned by `tokenizers`: pipeline, size and special tokens are taken from
    our file; the rest is as in our recipes."""
    from tokenizers import models, pre_tokenizers, trainers

    with open(ours) as f:
        spec = json.load(f)
    t = tokenizers.Tokenizer.from_file(ours)
    kind, model = spec["model"]["type"], spec["model"]
    options = {"vocab_size": len(model["vocab"]), "min_frequency": 2, "show_progress": False,
               "special_tokens": [a["content"] for a in spec["added_tokens"]]}
    if kind == "BPE":
        suffix = model["end_of_word_suffix"]
        peer = tokenizers.Tokenizer(models.BPE(**{"end_of_word_suffix": suffix} if suffix else {}))
        if max_token_length:
            options["max_token_length"] = int(max_token_length)
        if spec["pre_tokenizer"] and spec["pre_tokenizer"]["type"] == "ByteLevel":
            options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
        else:
            options["limit_alphabet"] = 1000
        if suffix:
            options["end_of_word_suffix"] = suffix
        trainer = trainers.BpeTrainer(**options)
    elif kind == "WordPiece":
        peer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
        trainer = trainers.WordPieceTrainer(limit_alphabet=1000, **options)
    else:
        peer = tokenizers.Tokenizer(models.WordLevel(unk_token="[UNK]"))
        trainer = trainers.WordLevelTrainer(**options)
    if t.normalizer:
        peer.normalizer = t.normalizer
    if t.pre_tokenizer:
        peer.pre_tokenizer = t.pre_tokenizer
    peer.train([text], trainer)
    peer.save(out)


def compare_unigram(ours, text):
    """Prints bits per character of the text cut by our pieces, and by those of SentencePiece."""
    import math

    from tokenizers import models, pre_tokenizers

    with open(ours) as f:
        vocab = [(p, s) for p, s in json.load(f)["model"]["vocab"]]
    with open(text) as f:
        lines = [" ".join(x.split()) for x in f if x.strip()]
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "peer")
        sentencepiece.SentencePieceTrainer.train(
            input=text, model_prefix=prefix, vocab_size=len(vocab), character_coverage=1.0,
            normalization_rule_name="identity", num_threads=1, minloglevel=2,
            split_by_number=False, split_by_unicode_script=False)
        sp = load_sentencepiece(prefix + ".model")
        theirs = [(sp.id_to_piece(i), sp.get_score(i)) for i in range(sp.vocab_size())]
    for pieces in (vocab, theirs):
        unk = [p for p, _ in pieces].index("<unk>")
        t = tokenizers.Tokenizer(models.Unigram(pieces, unk))
        t.pre_tokenizer = pre_tokenizers.Metaspace()
        counts = {}
        for e in t.encode_batch(lines):
            for token in e.tokens:
                counts[token] = counts.get(token, 0) + 1
        total = sum(counts.values())
        bits = -sum(c * math.log2(c / total) for c in counts.values())
        print(bits / sum(len(x) for x in lines))


def main(args):
    if args[:1] == ["train"]:
        train()
    elif args[:1] == ["goldens"]:
        goldens()
    elif args[:1] == ["hash"] and len(args) == 4:
        with open(args[2]) as f:
            make_hashes(args[1], [json.loads(x) for x in f], args[3])
    elif args[:1] == ["train-peer"] and len(args) in (4, 5):
        train_peer(*args[1:])
    elif args[:1] == ["compare-unigram"] and len(args) == 3:
        compare_unigram(*args[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
