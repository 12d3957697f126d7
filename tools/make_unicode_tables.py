#!/usr/bin/env python3
"""Writes fovea/text/unicode/unicode_tables.cpp: character properties as Hugging Face's tokenizers sees them.

The library draws on crates that follow different Unicode versions (its punctuation, control and
mark tables are those of Unicode 8 to 10, its lower-casing and white space those of the Rust
compiler), so no single Unicode database, utf8proc's included, gives the same answer for every
code point. This script asks the installed library itself, one code point at a time, and says where
utf8proc differs. Run it with the Python that has `tokenizers`; the version is written into the file.
"""
import argparse
import ctypes
import os

import tokenizers
from tokenizers import Regex
from tokenizers import normalizers as N
from tokenizers import pre_tokenizers as P

POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
BLOCK = 128


def utf8proc():
    u = ctypes.CDLL("libutf8proc.so.2")
    u.utf8proc_unicode_version.restype = ctypes.c_char_p
    u.utf8proc_tolower.argtypes = [ctypes.c_int32]
    u.utf8proc_tolower.restype = ctypes.c_int32
    for form in ("NFD", "NFKD"):
        f = getattr(u, "utf8proc_" + form)
        f.restype, f.argtypes = ctypes.c_void_p, [ctypes.c_char_p]

    class Property(ctypes.Structure):
        _fields_ = [("category", ctypes.c_int16), ("combining_class", ctypes.c_int16)]

    u.utf8proc_get_property.restype = ctypes.POINTER(Property)
    u.utf8proc_get_property.argtypes = [ctypes.c_int32]
    return u


def split_apart(pre, left, right):
    """Code points that `pre` does not leave in one piece with their neighbours."""
    whole = lambda c: left + chr(c) + right
    return {c for c in POINTS if [p for p, _ in pre.pre_tokenize_str(whole(c))] != [whole(c)]}


def removed_by(norm):
    return {c for c in POINTS if norm.normalize_str(chr(c)) == ""}


def flags():
    bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    space = split_apart(P.WhitespaceSplit(), "a", "a")
    letter = split_apart(P.Split(Regex(r"\p{L}"), "isolated"), "!", "!")
    number = split_apart(P.Split(Regex(r"\p{N}"), "isolated"), "!", "!")
    assert split_apart(P.Split(Regex(r"\s"), "isolated"), "!", "!") == space
    punct = split_apart(P.BertPreTokenizer(), "a", "a") - space
    assert split_apart(P.Punctuation(), "a", "a") == punct
    lower = N.Lowercase()
    chinese = N.BertNormalizer(**{**bert, "handle_chinese_chars": True})
    return {
        "space": space,
        "punctuation": punct,
        "control": removed_by(N.BertNormalizer(**{**bert, "clean_text": True})),
        "nonspacing_mark": removed_by(N.BertNormalizer(**{**bert, "strip_accents": True})),
        "letter": letter,
        "number": number,
        "word": set(POINTS) - split_apart(P.Whitespace(), "a", "a"),
        "mark": removed_by(N.StripAccents()),
        "numeric": split_apart(P.Digits(), "a", "a"),
        "upper": {c for c in POINTS if lower.normalize_str(chr(c)) != chr(c)},
        "chinese": {c for c in POINTS if chinese.normalize_str(chr(c)) != chr(c)},
    }


def quick_checks(u, classless):
    """Characters that a normal form may change, alone or by what stands before them."""
    changed = lambda form: {c for c in POINTS if form.normalize_str(chr(c)) != chr(c)}
    ordered = {c for c in POINTS if u.utf8proc_get_property(c).contents.combining_class}
    ordered -= set(classless)
    nfc, nfd, nfkc, nfkd = N.NFC(), N.NFD(), N.NFKC(), N.NFKD()
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for c in changed(nfd):
        parts = nfd.normalize_str(chr(c))
        if nfc.normalize_str(parts) == chr(c):
            second.update(map(ord, parts[1:]))
    return {
        "nfd_may_change": changed(nfd) | ordered,
        "nfkd_may_change": changed(nfkd) | ordered,
        "nfc_may_change": changed(nfc) | ordered | second,
        "nfkc_may_change": changed(nfkc) | ordered | second,
    }


def combining_classes(u):
    """Combining classes by how the library sorts c among marks whose class never changed."""
    probe = {}
    for c in POINTS:
        k = u.utf8proc_get_property(c).contents.combining_class
        if k and c < 0x3100:
            probe.setdefault(k, c)
    nfd = N.NFD()
    order = sorted(probe)

    def is_mark(c):  # sorted before a mark of the highest class?
        high = chr(probe[order[-1]])
        return nfd.normalize_str("a" + high + chr(c) + "b") != "a" + high + chr(c) + "b"

    wrong = {}
    for c in POINTS:
        theirs = u.utf8proc_get_property(c).contents.combining_class
        if theirs == 0:
            # a decomposing character may end in marks of its own: not a class of its own
            if nfd.normalize_str(chr(c)) == chr(c) and is_mark(c):
                wrong[c] = -1
            continue
        if theirs == order[-1]:
            continue
        if not is_mark(c):
            wrong[c] = 0
    return wrong


def scripts():
    """Runs of equal script. Kind 0 is "any": characters that belong to every script."""
    pre = P.UnicodeScripts()
    is_any = lambda c: not pre.pre_tokenize_str(chr(c))
    same = lambda a, b: len(pre.pre_tokenize_str(chr(a) + chr(b))) == 1
    runs, kinds, names, prev = [], [], [], None
    for c in POINTS:
        if is_any(c):
            kind = 0
        elif prev is not None and kinds[-1] and same(prev, c):
            kind = kinds[-1]
        else:
            kind = next((i + 1 for i, r in enumerate(names) if same(r, c)), 0)
            if not kind:
                names.append(c)
                kind = len(names)
        if not kinds or kind != kinds[-1]:
            runs.append(c)
            kinds.append(kind)
        prev = c
    return runs, kinds, len(names)


def two_stage(values):
    blocks, index = {}, []
    for b in range(0, 0x110000, BLOCK):
        block = tuple(values[b:b + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    return index, [v for block in blocks for v in block]


def array(kind, name, values, width=100):
    out, line = [f"extern const {kind} {name}[{len(values)}] = {{"], "   "
    for v in values:
        word = f" {v},"
        if len(line) + len(word) > width:
            out.append(line)
            line = "   "
        line += word
    return "\n".join(out + [line, "};"]) + "\n"


def ranges(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", default=os.path.join(here, "../fovea/text/unicode/unicode_tables.cpp"))
    args = ap.parse_args()
    u = utf8proc()
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]

    def decompose(form, c):
        p = getattr(u, "utf8proc_" + form)(chr(c).encode())
        text = ctypes.string_at(p).decode()
        libc.free(p)
        return text

    classes = combining_classes(u)
    assert all(k == 0 for k in classes.values()), classes
    sets = {**flags(), **quick_checks(u, classes)}
    values = [0] * 0x110000
    for bit, points in enumerate(sets.values()):
        for c in points:
            values[c] |= 1 << bit
    lower = []
    lowercase = N.Lowercase()
    for c in sorted(sets["upper"]):
        low = lowercase.normalize_str(chr(c))
        if c != 0x130 and low != chr(u.utf8proc_tolower(c)):
            lower.append((c, ord(low)))
    assert lowercase.normalize_str("\u0130") == "i\u0307"
    fixed = {c for c in POINTS[1:] if u.utf8proc_tolower(c) != c and c not in sets["upper"]}
    assert not fixed, fixed
    whole = set()
    for form in ("NFD", "NFKD"):
        n = getattr(N, form)()
        for c in POINTS[1:]:
            if n.normalize_str(chr(c)) != decompose(form, c):
                assert n.normalize_str(chr(c)) == chr(c), hex(c)
                whole.add(c)
    runs, kinds, n_scripts = scripts()

    index, data = two_stage(values)
    with open(args.out, "w") as f:
        f.write(f"""// Written by tools/make_unicode_tables.py from tokenizers {tokenizers.__version__} and
// utf8proc (Unicode {u.utf8proc_unicode_version().decode()}). Do not edit; see the script for why.
#include "fovea/text/unicode/unicode_tables.h"

namespace fovea::unicode_tables {{

""")
        f.write("// flag bits, lowest first: " + ", ".join(sets) + "\n")
        f.write(array("std::uint8_t" if max(index) < 256 else "std::uint16_t", "flag_index", index))
        f.write("\n" + array("std::uint16_t", "flag_data", data))
        f.write("\n// Letters that utf8proc does not know to have a lower case (from, to).\n")
        f.write(array("CodePair", "lower", [f"{{{a}, {b}}}" for a, b in lower]))
        f.write(f"extern const int lower_count = {len(lower)};\n")
        f.write("\n// Characters that utf8proc decomposes and tokenizers leaves whole.\n")
        f.write(array("CodePair", "whole", [f"{{{a}, {b}}}" for a, b in ranges(whole)]))
        f.write(f"extern const int whole_count = {len(ranges(whole))};\n")
        f.write("\n// Marks whose combining class is 0 there (first, last).\n")
        f.write(array("CodePair", "classless", [f"{{{a}, {b}}}" for a, b in ranges(classes)]))
        f.write(f"extern const int classless_count = {len(ranges(classes))};\n")
        f.write(f"\n// Scripts: a run starts at the first number and is of kind second ({n_scripts}).\n")
        f.write(array("CodePair", "scripts", [f"{{{a}, {b}}}" for a, b in zip(runs, kinds)]))
        f.write(f"extern const int scripts_count = {len(runs)};\n")
        f.write("\n}  // namespace fovea::unicode_tables\n")
    print(f"{len(set(index))} blocks, {len(lower)} lower, {len(whole)} whole, {len(classes)} classless,"
          f" {len(runs)} script runs of {n_scripts} scripts")


if __name__ == "__main__":
    main()
