#!/usr/bin/env python3
"""Writes the first inputs of every fuzz target to tests/corpus/TARGET/seed-*.

Small, valid, and one of every kind of component, so that the fuzzers start where it matters. What
fuzzing adds to the corpora has other names and is left alone.
"""
import gzip
import json
import os
import struct

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def write(target, name, data):
    folder = os.path.join(ROOT, "tests", "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "seed-" + name), "wb") as f:
        f.write(data)


TEXT = "Hello  <s>wörld</s>, don't\n\t中文 é 12".encode()


def added(*tokens):
    return [{"id": i, "content": t, "single_word": i % 2 == 1, "lstrip": i % 3 == 1, "rstrip": i % 3 == 2,
             "normalized": i % 2 == 0, "special": i == 0} for i, t in enumerate(tokens)]


def tokenizer(model, normalizer=None, pre=None, post=None, decoder=None, tokens=("<unk>", "<s>", "</s>")):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added(*tokens),
            "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": post, "decoder": decoder,
            "model": model}


def byte_characters():
    kept = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    extra = iter(range(256, 512))
    return [chr(b) if b in kept else chr(next(extra)) for b in range(256)]


def bpe(vocab, merges, **options):
    model = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": {t: i for i, t in enumerate(vocab)}, "merges": merges}
    model.update(options)
    return model


def tokenizer_json():
    base = ["<unk>", "<s>", "</s>"]
    letters = base + list("abdehlortw") + ["he", "ll", "hell", "hello", "or", "wor"]
    merges = [["h", "e"], ["l", "l"], ["he", "ll"], ["hell", "o"], ["o", "r"], ["w", "or"]]
    word = {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "hello": 3}}
    pieces = {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100,
              "vocab": {t: i for i, t in enumerate(base + ["hello", "wor", "##ld", "##l", "##d", ",", "don"])}}
    unigram = {"type": "Unigram", "unk_id": 0, "byte_fallback": False,
               "vocab": [["<unk>", 0.0], ["<s>", 0.0], ["</s>", 0.0], ["▁", -2.0], ["▁hello", -3.5],
                         ["l", -4.0], ["o", -4.1], ["he", -4.5], ["▁w", -5.0], ["é", -6.0]]}
    template = {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True}
    files = {
        "word": tokenizer(word, {"type": "Lowercase"}, {"type": "Whitespace"}, template),
        "wordpiece": tokenizer(pieces, bert, {"type": "BertPreTokenizer"},
                               {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
                               {"type": "WordPiece", "prefix": "##", "cleanup": True}),
        "byte-level": tokenizer(bpe(base + byte_characters() + ["Ġh", "Ġhe"], [["Ġ", "h"], ["Ġh", "e"]]), None,
                                byte_level, {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1],
                                             "trim_offsets": True, "add_prefix_space": True}, byte_level),
        "bpe": tokenizer(bpe(letters, [" ".join(m) for m in merges], ignore_merges=True),
                         {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"},
                                                              {"type": "Strip", "strip_left": True, "strip_right": True}]},
                         {"type": "Sequence", "pretokenizers": [
                             {"type": "WhitespaceSplit"},
                             {"type": "Punctuation", "behavior": "Isolated"},
                             {"type": "Digits", "individual_digits": True}]},
                         None, {"type": "BPEDecoder", "suffix": "</w>"}),
        "byte-fallback": tokenizer(
            bpe(base + [f"<0x{b:02X}>" for b in range(256)] + ["▁", "h", "e", "▁h", "▁he"],
                [["▁", "h"], ["▁h", "e"]], byte_fallback=True, fuse_unk=True),
            {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                                 {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
            None, template,
            {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                              {"type": "ByteFallback"}, {"type": "Fuse"},
                                              {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}),
        "unigram": tokenizer(unigram, {"type": "Sequence", "normalizers": [
            {"type": "Nmt"}, {"type": "NFKD"}, {"type": "StripAccents"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}, metaspace, template, metaspace),
        "split": tokenizer(bpe(letters, merges), {"type": "NFD"}, {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "\\w+|[^\\w\\s]+"}, "behavior": "MergedWithPrevious", "invert": False},
            {"type": "CharDelimiterSplit", "delimiter": "-"}, {"type": "UnicodeScripts"}]},
            None, {"type": "CTC", "pad_token": "<unk>", "word_delimiter_token": "|", "cleanup": True}),
    }
    for name, spec in files.items():
        write("tokenizer_json", name, json.dumps(spec, ensure_ascii=False).encode() + b"\xff" + TEXT)
    cut = dict(files["word"])
    cut["truncation"] = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 1}
    cut["padding"] = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                      "pad_type_id": 0, "pad_token": "<unk>"}
    write("tokenizer_json", "truncation", json.dumps(cut).encode() + b"\xff" + TEXT)


def vocab_files():
    vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nwor\n##ld\n,\n!\nd\n##o\n".encode()
    write("vocab_files", "vocab-txt", b"\x00" + vocab + b"\xff" + TEXT)
    write("vocab_files", "vocab-txt-crlf", b"\x00" + vocab.replace(b"\n", b"\r\n") + b"\xff" + TEXT)
    tokens = ["<|endoftext|>"] + byte_characters() + ["he", "ll", "hell", "Ġw"]
    merges = "#version: 0.2\nh e\nl l\nhe ll\nĠ w\n".encode()
    as_json = json.dumps({t: i for i, t in enumerate(tokens)}, ensure_ascii=False).encode()
    write("vocab_files", "merges", b"\x01" + as_json + b"\xff" + merges + b"\xff" + TEXT)
    write("vocab_files", "small", b"\x01" + b'{"a":0,"b":1,"ab":2}' + b"\xff" + b"a b\n" + b"\xff" + b"abba")
    write("vocab_files", "tiny", b"\x00[UNK]\n\xffx")


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def field(number, wire, payload):
    return varint(number * 8 + wire) + (varint(len(payload)) + payload if wire == 2 else payload)


def sentencepiece(pieces, kind, byte_fallback=False, charsmap=b""):
    out = b""
    for text, score, kind_of_piece in pieces:
        p = field(1, 2, text.encode()) + field(2, 5, struct.pack("<f", score))
        if kind_of_piece != 1:
            p += field(3, 0, varint(kind_of_piece))
        out += field(1, 2, p)
    out += field(2, 2, field(3, 0, varint(kind)) + field(35, 0, varint(int(byte_fallback))))
    out += field(3, 2, field(1, 2, b"x") + field(2, 2, charsmap))
    return out


def sentencepiece_model():
    marks = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    words = [("▁", -2.0, 1), ("▁th", -3.0, 1), ("is", -3.5, 1), ("t", -4.0, 1), ("h", -4.5, 1), ("▁a", -5.0, 1),
             ("e", -5.5, 1), ("s", -6.0, 1), ("i", -6.5, 1), ("@x", 0.0, 4), ("old", -9.0, 5), ("th", -3.2, 1)]
    # One unit for "A" with the leaf "a": a double array by hand (root, then slot 1 ^ 'A').
    units = [0] * 256
    units[0] = 1 << 10
    units[1 ^ 65] = 65 | 1 << 8 | ((1 ^ 65 ^ 2) << 10)
    units[2] = 1 << 31
    charsmap = struct.pack("<I", 1024) + struct.pack("<256I", *units) + b"a\0"
    bytes_ = [(f"<0x{b:02X}>", 0.0, 6) for b in range(256)]
    for name, model in {
        "unigram": sentencepiece(marks + words, 1),
        "bpe": sentencepiece(marks + words, 2),
        "charsmap": sentencepiece(marks + words, 1, charsmap=charsmap),
        "bytes": sentencepiece(marks + bytes_ + words, 1, True),
        "bytes-bpe": sentencepiece(marks + bytes_ + words, 2, True),
        "characters": sentencepiece(marks + words, 4),
        "words": sentencepiece(marks + words, 3),
    }.items():
        write("sentencepiece_model", name, struct.pack(">H", len(model)) + model + b"this is  a t\xc3\xa9st @x A")


def scanners():
    for i, text in enumerate(["don't stop, we'll've 123 and 45678 things!", "  two\n\n three \r\n\t four  ",
                              "中文と日本語 العربية हिन्दी", "👩‍👩‍👧 'S 'LL 'ſ x'd", "\u00a0\u3000\u2028a\u200db", "a'b''c ' d"]):
        write("scanners", str(i), text.encode())
    write("scanners", "broken", b"a\xc0\x80b\xed\xa0\x80c\xf0\x9f\x98d\xe4\xb8")


def stream_decoder():
    for i in range(6):
        write("stream_decoder", str(i), bytes([i if i < 4 else 124 + i]) + bytes((j * (i + 7) * 29) % 256 for j in range(60)))


def safetensors():
    def one(dtype, shape, begin, end):
        return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    for name, header, data in [
        ("empty", {}, b""),
        ("metadata", {"__metadata__": {"format": "pt"}}, b""),
        ("one", {"a": one("F32", [2], 0, 8)}, bytes(8)),
        ("types", {"a": one("F64", [1], 0, 8), "b": one("I64", [], 8, 16), "c": one("BF16", [3], 16, 22),
                   "d": one("F16", [1, 1], 22, 24), "e": one("BOOL", [2], 24, 26), "f": one("F4", [2], 26, 27),
                   "g": one("U8", [0, 9], 27, 27)}, bytes(range(27))),
        ("swapped", {"b": one("I8", [2], 2, 4), "a": one("I8", [2], 0, 2)}, b"abcd"),
        ("gap", {"b": one("I8", [2], 3, 5), "a": one("I8", [2], 0, 2)}, b"abcde"),
    ]:
        text = json.dumps(header).encode()
        write("safetensors", name, struct.pack("<H", len(text)) + text + data)


def saved_state():
    numbers = """step epoch next_index tokens_seen planned_updates planned_warmup skipped_steps skipped_in_a_row
    first_loss smooth_loss exploded_in_a_row best_value best_loss best_step evaluated_step evaluations
    evaluations_at_zero evaluations_without_gain loss_sum loss_weight wall_seconds""".split()
    state = {"format": 2} | {n: 1 for n in numbers}
    state["dropout_rng"] = {"seed": 1, "purpose": 2, "position": 3}
    state |= {n: "x" for n in ("run", "data_fingerprint", "budget", "best_metric")}
    write("saved_state", "state", b"\0" + json.dumps(state).encode())
    manifest = {"format": 2, "step": 3, "parent_step": -1, "files": [
        {"name": "model.safetensors", "size": 10, "xxh3_128": "0" * 32, "tensors": 1}],
        "run": "r", "code_version": "v"}
    write("saved_state", "manifest", b"\1" + json.dumps(manifest).encode()[:-1])
    write("saved_state", "no-files", b"\1" + json.dumps(manifest | {"files": []}).encode()[:-1])
    for i, x in enumerate([3, 1e300, True, "s", [1, 2], None, {"y": [[]]}]):
        write("saved_state", f"config{i}", b"\2" + json.dumps({"x": x}).encode())


def data_files():
    mail = "Dear all,\n\nlunch?\n\n@subject\nLunch\n\n@ann0\nlunch plans\n"
    table = "one\teins\ntwo ä\tzwei\nbad\n\n"
    comma = 'one,eins\n"t,w\no","zw""ei"\n'
    lines = '{"src":"a","tgt":"b"}\n{"translation":{"en":"x","de":"\\u00e4"}}\n{"text":"a","summary":3}\n'
    for i, text in enumerate([mail, table, comma, lines]):
        write("data_files", str(i), bytes([i + 10]) + text.encode())
        write("data_files", f"{i}-strict", bytes([i]) + text.encode())
        write("data_files", f"{i}-report", bytes([i + 210]) + text.encode())
    write("data_files", "gz", bytes([14]) + gzip.compress(table.encode(), mtime=0))


def questions():
    def squad(context, *qas):
        return json.dumps({"version": "2.0", "data": [{"title": "t", "paragraphs": [{"context": context, "qas": qas}]}]},
                          ensure_ascii=False)

    def asked(name, *answers, **more):
        return {"id": name, "question": "Where, who?", "answers": [{"text": t, "answer_start": s} for t, s in answers], **more}

    line = {"question": "Who?", "context": "Anna é", "answers": {"text": ["Anna"], "answer_start": [0]}}
    right = asked("a", ("Oslo", 17), ("𝔄", 6))
    texts = [squad("Émile 𝔄 lives in Oslo.", right, asked("b", is_impossible=True)),
             squad("Émile 𝔄 lives in Oslo.", asked("a", ("Oslo", 16)), asked("c", ("Bergen", 3)), right),
             squad("x", {"id": 3}, {"question": ""}, 7, {"question": "?", "answers": [{}], "is_impossible": 0}),
             json.dumps(line) + "\n" + json.dumps({**line, "answers": [{"text": "é", "answer_start": 5}]}) + "\n",
             json.dumps(line) + "\n{\n",
             '{"data": [{"paragraphs": {}}]}', "[" * 200]
    for i, text in enumerate(texts):
        write("questions", str(i), bytes([i]) + text.encode())
    write("questions", "gz", bytes([0]) + gzip.compress(texts[0].encode(), mtime=0))


def metric_texts():
    for i, (a, b) in enumerate([("the cat sat", "the cat sat on the mat"), ("", "x"), ("a\nb c", "b c\na"),
                                ("1,000.5 &quot;x&quot; a-b 5-6", '1,000.5 "x"'), ("我爱北京。", "我喜欢北京！"),
                                ("ΟΔΟΣ İ 👍🏽", "οδος i"), ("running generalizations yyy", "runs general")]):
        for metric in range(9):
            write("metric_texts", f"{i}-{metric}", bytes([8 * metric + i]) + a.encode() + b"\xff" + b.encode())


def model_config():
    sizes = {"vocab_size": 40, "initializer_range": 0.02, "dtype": "float32"}
    bert = sizes | {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
                    "max_position_embeddings": 20, "type_vocab_size": 2, "hidden_act": "gelu", "pad_token_id": 1,
                    "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "layer_norm_eps": 1e-12}
    gpt2 = sizes | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_inner": None, "n_positions": 20,
                    "activation_function": "gelu_new", "bos_token_id": 3, "eos_token_id": [3, 4],
                    "scale_attn_by_inverse_layer_idx": True, "pruned_heads": {}}
    xlnet = sizes | {"d_model": 16, "n_layer": 2, "n_head": 2, "d_head": 8, "d_inner": 24, "ff_activation": "relu",
                     "attn_type": "uni", "mem_len": None, "summary_type": "cls_index", "summary_activation": None,
                     "clamp_len": -1, "eos_token_id": 2, "bos_token_id": None}
    marian = sizes | {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
                      "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "pad_token_id": 39,
                      "eos_token_id": 0, "activation_function": "swish", "max_position_embeddings": 20}
    words = {"vocab_size": 40, "embedding_size": 6, "hidden_size": 8, "max_position_embeddings": 20, "dropout": 0.3}
    heads = {"none": 0, "classes": 1, "tags": 2, "spans": 3, "words": 4, "both": 5, "next": 6}
    for name, kind, config in [
        ("bert", "bert", bert), ("roberta", "roberta", bert | {"type_vocab_size": 1}),
        ("gpt2", "gpt2", gpt2), ("xlnet", "xlnet", xlnet),
        ("transformer", "fovea_transformer_encoder", {"vocab_size": 40, "d_model": 16, "num_hidden_layers": 2,
                                                      "encoder_attention_heads": 2}),
        ("single-head", "fovea_single_head", words | {"num_attention_heads": 2}),
        ("weighted-sum", "fovea_weighted_sum", words), ("label-query", "fovea_label_query", words),
        ("cnn", "fovea_convolution", words | {"window_sizes": [2, 3, 4, 5]}),
        ("bag", "fovea_bag", words | {"min_ngram": 3, "max_ngram": 5, "separator_id": 3, "word_ngram": 2, "buckets": 64}),
        ("linear", "fovea_linear", words | {"min_ngram": 3, "max_ngram": 5, "separator_id": 3, "word_ngram": 2, "buckets": 64}),
        ("architecture", "gpt2", gpt2 | {"architectures": ["GPT2LMHeadModel", 3]}),
        ("huge", "bert", bert | {"vocab_size": 1 << 24, "hidden_size": 1 << 16, "num_hidden_layers": 512,
                                 "max_position_embeddings": 1 << 24}),
        ("silent", "xlnet", {}),
    ]:
        text = json.dumps({"model_type": kind} | config).encode()
        for head, number in heads.items():
            if head in ("none", "words") or name in ("bert", "xlnet"):
                write("model_config", f"{name}-{head}", bytes([number]) + text)
    for name, config in [("marian", marian), ("bart", marian | {"eos_token_id": 2, "model_type": "bart"}),
                         ("ours", marian | {"model_type": "fovea_transformer", "position_embedding_type": "rotary"})]:
        write("model_config", name, b"\7" + json.dumps({"model_type": "marian"} | config).encode())
    write("model_config", "type-is-no-text", b"\0" + b'{"model_type": 5}')


def word_vectors():
    write("word_vectors", "text", b"2 3\na 1 2 3\nb 4 5e-1 -6\n")
    write("word_vectors", "glove", b"the 0.1 0.2\nof 0.3 -0.4\n")
    rows = b"".join(w + b" " + struct.pack("<2f", *v) + b"\n" for w, v in [(b"a", (1, 2)), (b"b", (3, -4))])
    write("word_vectors", "word2vec", b"2 2\n" + rows)
    words = b"".join(w + b"\0" + struct.pack("<qb", n, 0) for w, n in [(b"</s>", 3), (b"a", 2)])
    head = struct.pack("<14i", 793712314, 12, 2, 5, 5, 1, 5, 1, 2, 2, 3, 3, 6, 100) + struct.pack("<d", 1e-4)
    table = lambda r: b"\0" + struct.pack("<2q", r, 2) + struct.pack("<%df" % (2 * r), *range(2 * r))
    whole = head + struct.pack("<3i2q", 2, 2, 0, 5, -1) + words + table(5) + table(2)
    write("word_vectors", "fasttext", whole)
    write("word_vectors", "cut", whole[:-5])


def weight_index():
    names = {"a.weight": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    for name, index in [
        ("plain", {"metadata": {"total_size": 24}, "weight_map": names}),
        ("no-size", {"weight_map": names}),
        ("float-size", {"metadata": {"total_size": 24.0}, "weight_map": names}),
        ("odd-metadata", {"metadata": [1], "weight_map": names}),
        ("upwards", {"weight_map": {"a": "../secret.safetensors"}}),
        ("other-file", {"weight_map": {"a": "pytorch_model.bin"}}),
        ("no-text", {"weight_map": {"a": 3}}),
        ("empty", {"weight_map": {}}),
        ("list", [names]),
    ]:
        write("weight_index", name, json.dumps(index).encode())
    write("weight_index", "twice", b'{"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}}')


def pictures():
    """The files of tests/goldens/pictures are small and of every kind."""
    folder = os.path.join(ROOT, "tests", "goldens", "pictures")
    for name in sorted(os.listdir(folder)):
        target = {".png": "png", ".jpg": "jpeg"}.get(name[-4:])
        if target:
            with open(os.path.join(folder, name), "rb") as f:
                write(target, name, f.read())


def boxes():
    box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30.5</xmax><ymax>40</ymax></bndbox>"
    thing = "<object><name>cell</name><difficult>1</difficult>%s</object>" % box
    size = "<size><width>640</width><height>480</height><depth>3</depth></size>"
    for name, text in {
        "plain": "<annotation><filename>a.jpg</filename>%s%s%s</annotation>" % (size, thing, thing),
        "bare": "<annotation/>",
        "crossed": "<annotation>%s</annotation>" % thing.replace("30.5", "-3"),
        "cut": "<annotation>" + thing[:60],
        "entities": "<!DOCTYPE a [<!ENTITY x \"y\">]><annotation>%s</annotation>" % thing.replace("cell", "&x;"),
        "cdata": "<annotation><object><name><![CDATA[a<b]]></name>%s</object></annotation>" % box,
        "huge": "<annotation>%s</annotation>" % thing.replace("30.5", "1e400"),
    }.items():
        write("voc", name, text.encode())
    write("voc", "utf-16", ("<?xml version='1.0'?><annotation>%s</annotation>" % thing).encode("utf-16"))
    image = {"id": 1, "file_name": "a.jpg", "height": 480, "width": 640}
    category = {"id": 3, "name": "cell", "supercategory": "thing"}
    note = {"id": 5, "image_id": 1, "category_id": 3, "bbox": [1, 2.5, 30, 40], "area": 900.0, "iscrowd": 0}
    whole = {"info": {}, "images": [image], "categories": [category], "annotations": [note]}
    for name, file in {
        "plain": whole,
        "bare": {"images": [], "categories": [], "annotations": []},
        "crowd": whole | {"annotations": [note | {"iscrowd": 1}]},
        "no-area": whole | {"annotations": [{k: v for k, v in note.items() if k != "area"}]},
        "of-none": whole | {"annotations": [note | {"image_id": 9}]},
        "twice": whole | {"images": [image, image]},
        "upwards": whole | {"images": [image | {"file_name": "../a.jpg"}]},
        "three": whole | {"annotations": [note | {"bbox": [1, 2, 3]}]},
    }.items():
        write("coco", name, json.dumps(file).encode())
    write("coco", "cut", json.dumps(whole).encode()[:-9])


def tokenizer_config():
    mask = {"content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}
    config = {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True, "strip_accents": None,
              "tokenize_chinese_chars": False, "unk_token": "[UNK]", "mask_token": mask, "cls_token": "[CLS]",
              "added_tokens_decoder": {"4": mask | {"special": True}, "13": {"content": "<s>"}},
              "additional_special_tokens": ["<x>", mask], "model_max_length": 512}
    special = {"sep_token": "[SEP]", "pad_token": {"content": "[PAD]"}, "extra_special_tokens": {"image": "<i>"}}
    added = {"<new>": 14, "hello": 5}
    for name, parts in {
        "all": [config, special, added, {"model_type": "bert"}],
        "bare": [{}, {}, {}, {}],
        "words": [{"unk_token": "[NONE]"}, {}, {}, {}],
        "roles": [{}, special, {}, {}],
        "old": [{}, {}, added, {"model_type": "gpt2"}],
    }.items():
        text = b"\xff".join(json.dumps(p).encode() for p in parts)
        write("tokenizer_config", name, b"\0" + text + b"\xff" + TEXT)
    search = {"num_beams": 4, "max_length": 64, "length_penalty": 0.6, "length_penalty_kind": "marian",
              "repetition_penalty": 1.2, "no_repeat_ngram_size": 3, "bad_words_ids": [[5], [6, 7]],
              "bos_token_id": 0, "eos_token_id": [1, 2], "early_stopping": True}
    sampling = {"do_sample": True, "temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.05,
                "max_new_tokens": 20, "min_new_tokens": 2, "stop_strings": ["\n\n", "END"]}
    for name, generation in {"search": search, "sampling": sampling, "both": search | sampling,
                             "negative": {"bad_words_ids": [[-5], [1 << 40]]}, "odd": {"stop_strings": [""]},
                             "nothing": {}}.items():
        write("tokenizer_config", "generation-" + name, b"\1" + json.dumps(generation).encode())


def sounds():
    chunk = lambda name, body: name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
    riff = lambda *chunks: b"RIFF" + struct.pack("<I", 4 + sum(map(len, chunks))) + b"WAVE" + b"".join(chunks)
    form = lambda tag, n, bits: struct.pack("<HHIIHH", tag, n, 8000, 8000 * n * bits // 8, n * bits // 8, bits)
    for tag, bits in [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)]:
        data = struct.pack("<d", 0.5) * 3
        write("wav", "%d-%d" % (tag, bits), riff(chunk(b"fmt ", form(tag, 1, bits)), chunk(b"data", data)))
    guid = bytes.fromhex("0000000010008000 00aa00389b71".replace(" ", ""))
    more = form(0xfffe, 2, 16) + struct.pack("<HHIH", 22, 16, 3, 1) + guid
    write("wav", "extensible", riff(chunk(b"LIST", b"INFOx"), chunk(b"fmt ", more), chunk(b"data", b"abcd" * 4)))
    write("wav", "adpcm", riff(chunk(b"fmt ", form(2, 1, 4)), chunk(b"data", b"abcd")))

    def crc(data, bits, polynomial):
        value = 0
        for byte in data:
            value ^= byte << (bits - 8)
            for _ in range(8):
                value = (value << 1 ^ (polynomial if value >> (bits - 1) else 0)) & ((1 << bits) - 1)
        return value

    def flac(channels, samples, subframes):  # one frame of 16-bit samples at 8 kHz
        info = struct.pack(">HH", samples, samples) + bytes(6)
        info += ((8000 << 44) | (channels - 1) << 41 | 15 << 36 | samples).to_bytes(8, "big") + bytes(16)
        frame = bytes([0xff, 0xf8, 0x64, (channels - 1) << 4 | 8, 0, samples - 1])
        frame += bytes([crc(frame, 8, 7)]) + subframes
        return b"fLaC\x80\0\0\x22" + info + frame + crc(frame, 16, 0x8005).to_bytes(2, "big")

    constant, plain = b"\0\1\2", b"\2" + bytes(range(64))
    write("flac", "constant", flac(1, 32, constant))
    write("flac", "verbatim", flac(1, 32, plain))
    write("flac", "stereo", flac(2, 32, constant + plain))
    write("flac", "noise", b"fLaC" + bytes(range(64)))
    write("flac", "cut", flac(2, 32, constant + plain)[:-9])


tokenizer_json()
vocab_files()
sentencepiece_model()
scanners()
stream_decoder()
safetensors()
saved_state()
data_files()
questions()
metric_texts()
model_config()
weight_index()
word_vectors()
tokenizer_config()
pictures()
boxes()
sounds()
