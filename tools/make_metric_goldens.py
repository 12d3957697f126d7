#!/usr/bin/env python3
"""Scores of the reference libraries on texts written or generated here, for metrics_test.

    python tools/make_metric_goldens.py [--multi-bleu multi-bleu.perl] [--out tests/metrics]

needs: sacrebleu, rouge_score (with nltk), scikit-learn, regex; and for multi_bleu.json perl and a copy of
multi-bleu.perl (left out without it). Everything is seeded: the same library versions give the
same files. Versions are written into the files.
"""
import argparse
import json
import logging
import os
import random
import subprocess
import tempfile
import unicodedata

import numpy
import regex
import sacrebleu
import sklearn
from importlib.metadata import version
from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import _compute_p_value, estimate_ci
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

# Written by hand: (hypothesis, references). What breaks scorers: emptiness, one word, nothing or
# everything equal, numbers, entities, scripts without spaces, odd white space, unequal lengths.
EDGES = [
    ("", ["the cat sat on the mat"]),
    ("the cat sat on the mat", [""]),
    ("", [""]),
    (" ", ["\t"]),
    ("yes", ["yes"]),
    ("yes", ["no"]),
    ("Yes.", ["yes"]),
    ("the cat sat on the mat", ["the cat sat on the mat"]),
    ("alpha beta gamma delta", ["one two three four five"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
    ("It costs 1,000.5 dollars.", ["It costs 1,000.5 dollars."]),
    ("It costs 1,000.5 dollars.", ["It costs 1 000,5 dollars ."]),
    ("In 1999, 3.5% (or .5) of 10-12 items; v2.0.", ["In 1999 3.5 % or 0.5 of 10 - 12 items, v2.0."]),
    ("He said &quot;hello&quot; &amp; left &lt;now&gt; &apos;", ['He said "hello" & left <now> \'']),
    ("&amp;lt;b&amp;gt; &amp;amp; &quot", ["<b> & &quot"]),
    ("<skipped> one two three <skipped>", ["one two three"]),
    ("a line-\nbroken word\nhere", ["a linebroken word here"]),
    ("Hello,world!How are you?", ["Hello, world! How are you?"]),
    ("(hi) [there] {you} ...", ["(hi) [there] {you} ..."]),
    ("don't can't won't it's o'clock", ["do n't ca n't wo n't it 's o'clock"]),
    ("state-of-the-art 5-year-old A-1 1-A --", ["state of the art 5 year old A1 1A --"]),
    ("e.g. U.S.A., i.e. Mr. Smith,Jr.", ["eg USA, ie Mr Smith, Jr."]),
    (".,.,., 1.,2 3,.4", ["., 1 . , 2 3 , . 4"]),
    ("他在北京大学学习中文。", ["他在北京大学读中文。", "他于北京大学学习汉语！"]),
    ("我有1,000.5元和ABC。", ["我有 1,000.5 元 和 ABC 。"]),
    ("日本語のテキスト、です。", ["日本語の文章です。"]),
    ("안녕하세요 세계", ["안녕 세계"]),
    ("𠀀𠀁 𪛖 漢", ["𠀀 𠀁𪛖 漢字"]),
    ("I 😀 you 👍🏽!", ["I 😀 you 👍🏽 !"]),
    ("👨‍👩‍👧 family", ["👨‍👩‍👧 family 👨"]),
    ("Ärger über Öl, Straße; ÀÉÎÕÜ ẞ", ["ärger über öl , strasse ; àéîõü ß"]),
    ("ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ. ΑΣ'Α", ["οδυσσευς σας σ ας. ασ'α"]),
    ("İSTANBUL K Å ǅ", ["i̇stanbul k å ǆ"]),
    ("price $5 + €7 = ¥9 ± 3°C ^ ~ | `x`", ["price $ 5 + € 7 = ¥ 9 ± 3 ° C ^ ~ | ` x `"]),
    ("« bonjour » — dit-il… „ja“ ‚nein‘ “yes” ‘no’", ['"bonjour" - dit-il... "ja"']),
    ("١٢٣,٤٥ Ⅳ ½ ², 3½.", ["١٢٣,٤٥ Ⅳ ½ ² , 3½ ."]),
    ("tab\tand\u00a0nbsp\u2003em\u3000wide\u200bzero\u2028ls\x1cfs\x85nel", ["tab and nbsp em wide zero ls fs nel"]),
    ("trailing spaces   \u3000 ", ["trailing spaces"]),
    ("one two", ["one two three four five six seven eight nine ten"]),
    ("one two three four five six seven eight nine ten", ["one two"]),
    ("a b c d", ["a b c d e", "a b c"]),
    ("a b c d e f", ["a b c x", "a b c d y z u v", "q"]),
    ("x" * 300, ["x" * 299 + "y"]),
    ("word " * 120, ["word " * 100 + "other " * 30]),
    ("The police killed the gunman\nThe dog bit the man", ["police killed the gunman\n\nthe man was bitten by a dog"]),
    ("First line here.\nSecond one there.\nThird.", ["Second one there.\nFirst line was here.\nA fourth."]),
    ("running runner runs ran easily", ["run runners running easy ran"]),
    ("Testing the generalizations of relational databases", ["test generalization relate database tests"]),
    ("...", ["..."]),
    ("?!", ["!?"]),
    ("'", ["''"]),
    ("-", ["--"]),
    ("1", ["1."]),
    ("1.", ["1 ."]),
]

WORDS = """the a of to and in is it you that he was for on are with as his they at be this from I
have or by one had not but what all were when we there can an your which their said if do will each
about how up out them then she many some so these would other into has more her two like him see
time could no make than first been its who now people my made over did down only way find use may
Haus Straße über können Mädchen größer schön niño français garçon naïve Ångström Zürich
running quickly national relational happiness studies flying hopefully generalization troubled
New York London U.S. Mr. Dr. e.g. don't it's state-of-the-art x-ray""".split()
ODD = """1 12 3.14 1,000 10,000.50 5-6 $5 50% #1 C++ a/b &amp; &quot;ok&quot; &lt;p&gt; (maybe) [sic]
"quoted" 'single' well-known end. stop, why? no! yes; so: … — – « » ‚a‘ €20 £3 ½ x² 北京 中文 。 日本 テスト
한국 😀 👍🏽 ❤️ ∑ → © ™ Привет мир ΟΔΟΣ İzmir ﬁne _under_ a_b * ~ ^ | \\ / @user http://x.y/z?q=1""".split()


def sentence(r, low, high):
    n = r.randint(low, high)
    return " ".join(r.choice(WORDS) if r.random() < 0.8 else r.choice(ODD) for _ in range(n))


def damaged(r, text):
    out = []
    for w in text.split(" "):
        x = r.random()
        if x < 0.1:
            continue
        if x < 0.2:
            out.append(r.choice(WORDS + ODD))
        elif x < 0.25:
            out += [w, w]
        elif x < 0.3:
            out.append(w.upper())
        elif x < 0.33:
            out.append(w + r.choice(".,;:!?-…"))
        else:
            out.append(w)
    if r.random() < 0.2:
        r.shuffle(out)
    return (" " if r.random() < 0.95 else "  ").join(out)


def segments():
    r = random.Random(20171206)
    made = list(EDGES)
    for _ in range(300):
        refs = [sentence(r, 1, 30)]
        for _ in range(r.choice([0, 0, 0, 1, 2])):
            refs.append(damaged(r, refs[0]))
        hyp = damaged(r, r.choice(refs)) if r.random() < 0.9 else sentence(r, 1, 20)
        made.append((hyp, refs))
    for _ in range(6):  # several lines, long
        ref = "\n".join(sentence(r, 3, 25) for _ in range(r.randint(3, 12)))
        lines = [damaged(r, line) for line in ref.split("\n")]
        r.shuffle(lines)
        made.append(("\n".join(lines), [ref]))
    return made


TOKENIZERS = ["none", "13a", "intl", "char", "zh"]
BLEU_CONFIGS = (
    [dict(tokenize=t, lowercase=lc, effective_order=True) for t in TOKENIZERS for lc in (False, True)]
    + [dict(smooth_method=s, effective_order=e) for s in ("none", "floor", "add-k", "exp") for e in (False, True)]
    + [dict(smooth_method="floor", smooth_value=0.5), dict(smooth_method="add-k", smooth_value=3)]
    + [dict(max_ngram_order=2), dict(max_ngram_order=6, effective_order=True)]
)
CHRF_CONFIGS = [
    dict(), dict(word_order=2), dict(lowercase=True), dict(word_order=2, lowercase=True),
    dict(whitespace=True), dict(eps_smoothing=True), dict(word_order=1, beta=3, char_order=4),
    dict(word_order=2, eps_smoothing=True),
]


def ours(signature):
    return str(signature).replace("version:" + sacrebleu.__version__, "fovea:0.1.0")


def bleu_fields(s):
    return [s.score, s.bp, s.ratio, s.sys_len, s.ref_len, list(s.precisions)]


def write(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        f.write("\n")


def sacrebleu_goldens(made):
    bleus = [BLEU(force=True, **c) for c in BLEU_CONFIGS]
    chrfs = [CHRF(**c) for c in CHRF_CONFIGS]
    tokenizers = {t: BLEU(tokenize=t).tokenizer for t in TOKENIZERS}
    out = dict(sacrebleu=sacrebleu.__version__, bleu_configs=BLEU_CONFIGS, chrf_configs=CHRF_CONFIGS,
               segments=[], corpora=[])
    for hyp, refs in made:
        out["segments"].append(dict(
            hyp=hyp, refs=refs,
            tokens={t: " ".join(f(hyp.rstrip()).split()) for t, f in tokenizers.items()},
            bleu=[b.sentence_score(hyp, refs).score for b in bleus],
            chrf=[c.sentence_score(hyp, refs).score for c in chrfs]))
    r = random.Random(7)
    everything = list(range(len(made)))
    groups = [everything, everything[:len(EDGES)], everything[len(EDGES):]]
    groups += [r.sample(everything, r.randint(1, 40)) for _ in range(20)]
    for group in groups:
        hyps = [made[i][0] for i in group]
        most = max(len(made[i][1]) for i in group)
        refs = [[(made[i][1] + [None] * most)[k] for i in group] for k in range(most)]
        results = []
        for b in bleus:
            s = b.corpus_score(hyps, refs)
            results.append(dict(fields=bleu_fields(s), signature=ours(b.get_signature()),
                                text=s.format(width=1, signature=ours(b.get_signature()))))
        chrf_results = []
        for c in chrfs:
            s = c.corpus_score(hyps, refs)
            chrf_results.append(dict(score=s.score,
                                     text=s.format(width=1, signature=ours(c.get_signature()))))
        out["corpora"].append(dict(group=group, bleu=results, chrf=chrf_results))
    return out


def rouge_goldens(made):
    kinds = ["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]
    out = dict(rouge_score=version("rouge_score"), nltk=version("nltk"), kinds=kinds, segments=[])
    scorers = [rouge_scorer.RougeScorer(kinds, use_stemmer=s) for s in (False, True)]
    for hyp, refs in made:
        one = [[list(map(float, s.score(refs[0], hyp)[k])) for k in kinds] for s in scorers]
        best = [[list(map(float, s.score_multi(refs, hyp)[k])) for k in kinds] for s in scorers]
        out["segments"].append(dict(one=one, best=best))
    return out


def resampling_goldens(made):
    """Scores of given resamples and exchanges from sacreBLEU's own statistics, and what its formulas
    make of them. Rows are the made segments; the other system has every third hypothesis damaged."""
    r = random.Random(2004)
    hyps = [hyp for hyp, _ in made]
    others = [damaged(r, hyp) if i % 3 == 0 else hyp for i, hyp in enumerate(hyps)]
    most = max(len(refs) for _, refs in made)
    refs = [[(refs + [None] * most)[k] for _, refs in made] for k in range(most)]
    n = len(made)
    resamples = [[r.randrange(n) for _ in range(n)] for _ in range(60)]
    exchanges = [[r.randrange(2) for _ in range(n)] for _ in range(60)]
    out = dict(sacrebleu=sacrebleu.__version__, others=others, resamples=resamples,
               exchanges=exchanges, metrics=[])
    for name, metric in [("bleu", BLEU(force=True)), ("chrf2", CHRF()), ("chrf2++", CHRF(word_order=2))]:
        def score(rows):
            return metric._compute_score_from_stats(rows.sum(0).tolist()).score
        a = numpy.array(metric._extract_corpus_statistics(hyps, refs))
        b = numpy.array(metric._extract_corpus_statistics(others, refs))
        real = abs(score(a) - score(b))
        baseline = numpy.array([score(a[i]) for i in resamples])
        system = numpy.array([score(b[i]) for i in resamples])
        mean, half_width = estimate_ci(system)
        differences = numpy.abs(system - baseline)
        masks = [numpy.array(e, dtype=bool)[:, None] for e in exchanges]
        exchanged = numpy.array([abs(score(numpy.where(m, b, a)) - score(numpy.where(m, a, b)))
                                 for m in masks])
        centred = differences - differences.mean()
        out["metrics"].append(dict(
            key=name, baseline=baseline.tolist(), system=system.tolist(), real=real,
            mean=float(mean), half_width=float(half_width), centred=centred.tolist(),
            bootstrap_p=_compute_p_value(centred, real), exchanged=exchanged.tolist(),
            randomization_p=_compute_p_value(exchanged, real),
            # bounds that some reach and some do not, so that the counting is seen
            p_at=[[x, _compute_p_value(exchanged, x)] for x in (exchanged.mean() / 2, exchanged.mean())]))
    return out


def classification_goldens():
    r = random.Random(1960)
    cases = [(["a"], ["a"]), (["a"], ["b"]), (["a", "b", "b"], ["b", "b", "a"]), (["", "é"], ["é", "é"])]
    for _ in range(40):
        labels = r.sample(["neg", "pos", "neutral", "B-PER", "I-PER", "O", "Ärger", "zz", "北", "👍", "", " x"],
                          r.randint(1, 9))
        wanted = [r.choice(labels[: r.randint(1, len(labels))]) for _ in range(r.choice([1, 3, 20, 200]))]
        predicted = [w if r.random() < 0.6 else r.choice(labels) for w in wanted]
        cases.append((predicted, wanted))
    out = dict(sklearn=sklearn.__version__, cases=[])
    for predicted, wanted in cases:
        labels = sorted(set(predicted) | set(wanted))
        def shares(average):
            return [list(map(float, x)) if average is None else float(x) for x in precision_recall_fscore_support(
                wanted, predicted, average=average, zero_division=0)[:3]]
        out["cases"].append(dict(
            predicted=predicted, wanted=wanted, labels=labels, accuracy=float(accuracy_score(wanted, predicted)),
            confusion=confusion_matrix(wanted, predicted).tolist(), micro=shares("micro"),
            macro=shares("macro"), each=shares(None)))
    return out


def stems():
    r = random.Random(1980)
    bases = """relat condit ration valenc hesitanc digit conform radic different vile analog
    vietnam predic oper feud decis hope callous form sensit sensib triplic electr good reviv allow
    infer airlin gyroscop adjust defens irrit replac depend adopt homolog commun activ angular
    effect bowdler prob rat ceas control roll sky die lie tie news inning outing canning howe
    proceed exceed succeed agre feed plaster bl motor sing conflat troubl siz hopp tann fall hiss
    fizz fail fil happ enjo spy fl tr by toy syzyg yy y yes hay geolog theolog apolog full wonder
    fit al ss sses ies b 4 2nd 90 ab a1b""".split()
    suffixes = """s es ed ing ies ied eed y ly ational tional enci anci izer abli bli alli entli eli
    ousli ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate
    ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion
    ou ism ate iti ous ive ize e ll l ings ying yed""".split() + [""]
    words = {b + s for b in bases for s in suffixes}
    letters = "aeiouybcdlstz19"
    words |= {"".join(r.choice(letters) for _ in range(r.randint(1, 9))) + r.choice(suffixes)
              for _ in range(3000)}
    stemmer = PorterStemmer()
    return sorted((w, stemmer.stem(w)) for w in words if w)


def ranges(points):
    out = []
    for p in points:
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return out


def unicode_goldens():
    # Code points that this Python's database knows; `regex` may know newer ones.
    known = [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    match = {k: regex.compile(r"\p{%s}" % k) for k in "NPS"}
    out = {k: ranges(c for c in known if m.match(chr(c))) for k, m in match.items()}
    out["space"] = ranges(c for c in range(0x110000) if chr(c).isspace())
    out["lower"] = [[c, list(map(ord, chr(c).lower()))] for c in known if chr(c).lower() != chr(c)]
    out["known"] = ranges(known)
    out["unicode"] = unicodedata.unidata_version
    # the final sigma rule, with what stands around it
    r = random.Random(5)
    around = ["Σ", "Α", "β", "'", ".", " ", "1", "\u0301", "\u00ad", "漢", "ʰ", "-", "·", "ª"]
    texts = ["".join(r.choice(around) for _ in range(r.randint(1, 8))) for _ in range(400)]
    out["sigma"] = [[t, t.lower()] for t in texts]
    return out


def multi_bleu_goldens(script, made):
    r = random.Random(3)
    out = []
    for _ in range(40):
        n = r.choice([1, 2, 5, 30])
        k = r.choice([1, 1, 2, 3])
        rows = []
        for _ in range(n):
            refs = [sentence(r, 1, 20)]
            refs += [damaged(r, refs[0]) for _ in range(k - 1)]
            rows.append((damaged(r, refs[0]) or "x", refs))
        for lc in (False, True):
            with tempfile.TemporaryDirectory() as d:
                for j in range(k):
                    with open(f"{d}/ref{j}", "w") as f:
                        f.writelines(refs[j] + "\n" for _, refs in rows)
                done = subprocess.run(["perl", script] + ["-lc"] * lc + [f"{d}/ref"], text=True,
                                      input="".join(h + "\n" for h, _ in rows), capture_output=True)
            out.append(dict(rows=rows, lc=lc, text=done.stdout.strip()))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "..", "tests", "metrics"))
    parser.add_argument("--multi-bleu")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    logging.disable(logging.WARNING)  # sacreBLEU's advice about effective order
    made = segments()
    write(args.out, "sacrebleu.json", sacrebleu_goldens(made))
    write(args.out, "rouge.json", rouge_goldens(made))
    write(args.out, "resampling.json", resampling_goldens(made))
    write(args.out, "classification.json", classification_goldens())
    write(args.out, "unicode.json", unicode_goldens())
    with open(os.path.join(args.out, "porter.txt"), "w") as f:
        f.writelines(f"{w} {s}\n" for w, s in stems())
    if args.multi_bleu:
        write(args.out, "multi_bleu.json", multi_bleu_goldens(args.multi_bleu, made))


if __name__ == "__main__":
    main()
