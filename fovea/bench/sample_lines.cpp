#include "fovea/bench/sample_lines.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"

namespace fovea {

namespace {

using Words = std::vector<std::string_view>;

// Parts of speech in one language and the patterns that join them; in a pattern 1, 2, 3, 4 stand
// for a noun, a verb, an adjective, something else, and every other character for itself.
struct Language {
    Words nouns, verbs, adjectives, others;
    Words patterns;
};

const Language english = {
    {"river",       "engine",       "teacher",         "window",    "garden",   "letter",
     "mountain",    "breakfast",    "signal",          "neighbour", "piano",    "storm",
     "library",     "bicycle",      "question",        "answer",    "shadow",   "kitchen",
     "machine",     "attention",    "translation",     "sentence",  "language", "station",
     "morning",     "lantern",      "sailor",          "market",    "bridge",   "candle",
     "forest",      "thunderstorm", "unbelievability", "café",      "naïveté",  "jalapeño",
     "rock'n'roll", "mother-in-law"},
    {"carries",       "finds",      "has forgotten", "repairs",         "is watching",
     "won't open",    "painted",    "can't see",     "would've bought", "measures",
     "translates",    "opens",      "doesn't know",  "they're",         "listened to",
     "overestimated", "walks past", "I'll call",     "you'd lose",      "sings about"},
    {"old", "quiet", "bright", "unreasonable", "green", "heavy", "re-entrant", "tokenized",
     "fortunate", "early", "forgotten", "extraordinary", "cold", "well-known", "antique", "Tiny"},
    {"yesterday", "in 1987", "at 7:45 p.m.", "for $12.50", "again and again", "perhaps",
     "(or so it seems)", "without a word", "over there", "however", "Mr. Hale", "St. John's"},
    {"The 3 1 2 the 1.", "A 1, a 1 and a 1 2 4.", "4, the 1 2 every 3 1!", "Why 2 the 1 the 3 1?",
     "\"The 1 2,\" said the 3 1, \"4.\"", "the 1's 1 2; the 1s don't.", "THE 3 1: 1/1 2 4...",
     "4 - a 1 that 2 - 1 & 1.", "No 1 2 a 1, 4, but the 3 1 2 it 4; and so 2 the 1."}};

const Language german = {
    {"Brücke", "Fluss", "Lehrerin", "Straßenbahn", "Frühstück", "Übersetzung", "Aufmerksamkeit",
     "Donaudampfschifffahrt", "Wörterbuch", "Garten", "Geräusch", "Kühlschrank", "Vögel", "Nachbar",
     "Rechtsschutzversicherung", "Zürich", "GROẞE", "Größe", "Maß"},
    {"trägt", "öffnet", "vergisst", "übersetzt", "hört", "repariert", "schließt", "sieht", "wäre",
     "zerstört", "kauft", "verläuft"},
    {"alte", "grüne", "schöne", "ungewöhnliche", "kalte", "späte", "mürrische", "heiße"},
    {"gestern", "um 8:30 Uhr", "für 3,50 €", "z. B.", "trotzdem", "am 12. März", "vielleicht",
     "d. h. nie"},
    {"Die 3 1 2 den 1.", "4 2 die 1 eine 3 1!", "„Der 1 2“, sagte die 3 1, „4.“",
     "Warum 2 der 1 die 3 1, 4?", "1 und 1: 2, 2, 2 – 4."}};

const Language chinese = {
    {"河流", "老师", "窗户", "花园", "图书馆", "自行车", "问题", "机器", "注意力", "语言", "车站",
     "灯笼", "早餐", "山", "邻居", "２０２４年", "上海", "𠮷"},
    {"看见", "修理", "打开", "忘记了", "正在听", "翻译", "买", "唱", "走过", "不知道"},
    {"旧的", "安静的", "明亮的", "绿色的", "沉重的", "奇怪的", "很小的"},
    {"昨天", "早上七点", "也许", "在那里", "花了十二元", "再一次", "但是"},
    {"3121。", "4，31231！", "“12”，31说：“4。”", "1、1和124；1不2。", "为什么312《1》？",
     "1231（4）…"}};

const Language japanese = {
    {"川", "先生", "窓", "庭", "図書館", "自転車", "質問", "機械", "注意", "言葉", "駅",
     "コンピューター", "ﾃｽﾄ", "カ゛", "朝ごはん", "山", "ラーメン", "東京タワー"},
    {"見ます", "直しました", "開ける", "忘れた", "聞いている", "翻訳する", "買いたい", "歌った"},
    {"古い", "静かな", "明るい", "緑の", "重い", "不思議な", "とても小さい"},
    {"昨日", "朝七時に", "たぶん", "あそこで", "１２００円で", "もう一度", "しかし"},
    {"31は1を2。", "4、1と1が2！", "「1を2」と31が言った。4。", "なぜ31は1を2の？", "1・1〜24…"}};

const Language arabic = {
    {"النهر", "المعلم", "النافذة", "الحديقة", "المكتبة", "الدراجة", "السؤال", "الآلة", "اللغة",
     "المحطة", "كِتَابٌ", "مُدَرِّسَة", "بيت", "ٱلْقَمَر", "ﻻ"},
    {"يحمل", "يفتح", "نسي", "يترجم", "يسمع", "أصلح", "اشترى", "لا يعرف"},
    {"القديم", "الهادئ", "المضيء", "الأخضر", "الثقيل", "الغريب"},
    {"أمس", "في الساعة ٧:٣٠", "ربما", "هناك", "بـ١٢ ريالاً", "مرة أخرى", "لكن"},
    {"1 3 2 1.", "4، 2 1 3 1!", "قال 1: «2 1 4».", "لماذا 2 1 3 1؟", "1 و 1؛ 2 4…"}};

const Language hindi = {
    {"नदी", "शिक्षक", "खिड़की", "बगीचा", "पुस्तकालय", "साइकिल", "प्रश्न", "मशीन", "ध्यान", "भाषा", "स्टेशन",
     "क्षत्रिय", "ज़िंदगी", "हिन्दी", "श्री", "पहाड़"},
    {"देखता है", "खोलती है", "भूल गया", "अनुवाद करता है", "सुन रहे हैं", "ख़रीदा", "नहीं जानता"},
    {"पुराना", "शांत", "चमकीला", "हरी", "भारी", "अजीब"},
    {"कल", "सुबह ७ बजे", "शायद", "वहाँ", "₹१२ में", "फिर से", "लेकिन"},
    {"3 1 1 को 2।", "4, 1 और 1 2!", "\"1 2\", 3 1 ने कहा, \"4।\"", "3 1 1 क्यों 2?", "1 - 1; 2 4॥"}};

const Words other_scripts = {
    "Привет, мир!",
    "Ёжик пьёт чай",
    "Καλημέρα κόσμε",
    "Ὀδυσσεύς",
    "שלום עולם",
    "שָׁלוֹם",
    "안녕하세요 세계",
    "한국어 문장",
    "ㅎㅏㄴㄱㅡㄹ",
    "สวัสดีชาวโลก",
    "ភាសាខ្មែរ",
    "Tiếng Việt rất đẹp",
    "Íslenskt fólk",
    "Łódź żółw",
    "İstanbul'da ılık",
    "தமிழ் மொழி",
    "বাংলা ভাষা",
    "ქართული ენა",
    "Հայերեն լեզու",
    "ᏣᎳᎩ",
    "አማርኛ",
    "ᚠᚢᚦᚨᚱᚲ",
    "𐐷𐐲𐑌",
    "𝕱𝖗𝖆𝖐𝖙𝖚𝖗 𝟙𝟚𝟛",
    "ǅ ǆ Ǆ ﬁ ﬂ ﬃ",
    "½ ⅔ ² ₃ Ⅷ ℡ ㎏",
    "ａｂｃ ＡＢＣ １２３",
    "e\u0301 a\u0308 n\u0303 q\u0307\u0323",
    "Å Å Å",
    "z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334a\u0308\u0301\u0323l\u0332go"};

const Words emoji = {"😀",
                     "👍🏽",
                     "👩‍👩‍👧‍👦",
                     "🏳️‍🌈",
                     "🇩🇪🇯🇵",
                     "👨🏾‍💻",
                     "❤️",
                     "❤",
                     "1️⃣",
                     "🤷‍♀️",
                     "🧑‍🚀",
                     "🎉🎉🎉",
                     "☃",
                     "☃️",
                     "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
                     "👁️‍🗨️",
                     "✈︎",
                     "🫠",
                     "©️",
                     "‼️",
                     "😶‍🌫️",
                     "🀄",
                     "⌚",
                     "👩🏼‍❤️‍💋‍👨🏿"};

const Words code = {
    "for (int i = 0; i < n; ++i) sum += a[i] * b[i];",
    "def tokenize(text: str) -> list[int]:\n    return [vocab[t] for t in text.split()]",
    "if (x != nullptr && x->size() >= 0x1F) { return std::move(*x); }",
    "SELECT name, COUNT(*) FROM words WHERE len > 3 GROUP BY name;",
    "{\"id\": 42, \"tags\": [\"a\", \"b\"], \"ok\": true, \"v\": -1.5e-07}",
    "\tprintf(\"%d\\n\", value);  // check",
    "<div class=\"main\" id='x'>a &amp; b</div>",
    "git commit -m 'fix #123' && cd ../src || exit 1",
    "λ = x => x ** 2 ?? [...y, ...z];",
    "#include <vector>\n#define MAX(a,b) ((a)>(b)?(a):(b))\n",
    "https://example.org/path/to_file.html?q=attention+is&x=1#top",
    "user.name+tag@mail.example.com",
    "C:\\Users\\fovea\\Documents\\test.txt",
    "regex = r\"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+\"",
    "fn main() -> Result<(), Box<dyn Error>> { println!(\"{}\", 1_000u64); Ok(()) }",
    "w_ij = sum_k q_ik * k_jk / sqrt(d_k)"};

const Words spaces = {" ",      "  ",     "   ",    "\t",     "\n",     "\r\n",   "\r",
                      "\u00a0", "\u3000", "\u2009", "\u200b", "\u2028", "\u2029", "\u0085",
                      "\x0b",   "\x0c",   " \t ",   "\n\n\n", "      ", "\u1680", "\ufeff",
                      "\u200d", "\u200c", "\u2060", "\u00ad", "\u180e"};

// What a tokenizer's own files use as marks, met in plain text.
const Words marks = {"[MASK]",
                     "[CLS]",
                     "[SEP]",
                     "[UNK]",
                     "[PAD]",
                     "<s>",
                     "</s>",
                     "<unk>",
                     "<pad>",
                     "<mask>",
                     "<cls>",
                     "<sep>",
                     "▁",
                     "▁▁the",
                     "##ing",
                     "Ġthe",
                     "Ċ",
                     "</w>",
                     "<0x41>",
                     "<0x>",
                     "<|endoftext|>",
                     "<extra_id_0>",
                     "$A",
                     "[mask]",
                     " <mask> ",
                     "x<s>y",
                     "''",
                     "``",
                     "don’t",
                     "''s",
                     "\u0000",
                     "\u0007",
                     "\ufffd",
                     "\u007f",
                     "…",
                     "—",
                     "`",
                     "~~",
                     "^_^",
                     "@@",
                     "№5",
                     "µ",
                     "ß",
                     "ŉ",
                     "Σς"};

std::string_view pick(Rng& rng, const Words& words) {
    return words[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(words.size())))];
}

std::string sentence(Rng& rng, const Language& l) {
    std::string out;
    const std::string_view pattern = pick(rng, l.patterns);
    for (const char c : pattern) {
        if (c == '1')
            out += pick(rng, l.nouns);
        else if (c == '2')
            out += pick(rng, l.verbs);
        else if (c == '3')
            out += pick(rng, l.adjectives);
        else if (c == '4')
            out += pick(rng, l.others);
        else
            out += c;
    }
    return out;
}

std::string number(Rng& rng) {
    const auto below = [&](std::int64_t n) { return rng.below(n); };
    switch (below(6)) {
        case 0:
            return text_of(below(100));
        case 1:
            return text_of(below(1'000'000'000), ".", 10 + below(90));
        case 2:
            return text_of("-", below(50), "%");
        case 3:
            return text_of(1900 + below(150), "-0", below(9) + 1);
        case 4:
            return text_of("1,0", 10 + below(90), ",000");
        default:
            return text_of("٣", below(10), "६Ⅳ");
    }
}

// A run of one or two characters, now and then longer than any word limit.
std::string run(Rng& rng) {
    static const Words units = {"a",  "ab", "=",      "-", ".", "!?", "ha", "が",
                                "中", "é",  "\u0301", "#", " ", "0",  "😀"};
    const std::string_view unit = pick(rng, units);
    const std::int64_t n = rng.below(8) == 0 ? 90 + rng.below(120) : 2 + rng.below(12);
    std::string out;
    for (std::int64_t i = 0; i < n; ++i) out += unit;
    return out;
}

std::string any_code_points(Rng& rng) {
    std::string out;
    for (std::int64_t n = rng.below(12) + 1; n > 0; --n) {
        std::int64_t c = 0;
        switch (rng.below(4)) {
            case 0:
                c = rng.below(0x500);
                break;
            case 1:
                c = 0x2000 + rng.below(0x3000);
                break;
            case 2:
                c = rng.below(0x10000);
                break;
            default:
                c = rng.below(0x30000);
                break;
        }
        if (c >= 0xD800 && c <= 0xDFFF) c = 0xFFFD;
        out += encode_utf8(static_cast<std::uint32_t>(c));
    }
    return out;
}

std::string fragment(Rng& rng) {
    switch (rng.below(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return sentence(rng, english);
        case 4:
        case 5:
            return sentence(rng, german);
        case 6:
        case 7:
            return sentence(rng, chinese);
        case 8:
            return sentence(rng, japanese);
        case 9:
            return sentence(rng, arabic);
        case 10:
            return sentence(rng, hindi);
        case 11:
            return std::string(pick(rng, other_scripts));
        case 12:
            return std::string(pick(rng, emoji));
        case 13:
            return std::string(pick(rng, code));
        case 14:
            return std::string(pick(rng, marks));
        case 15:
            return number(rng);
        case 16:
            return run(rng);
        case 17:
            return any_code_points(rng);
        case 18:
            return std::string(pick(rng, spaces));
        default: {  // a word in unusual clothes
            std::string w(pick(rng, english.nouns));
            if (rng.below(2)) w[0] = static_cast<char>(w[0] - 'a' + 'A');
            if (rng.below(3) == 0) w += "'s";
            if (rng.below(3) == 0) w += pick(rng, emoji);
            if (rng.below(4) == 0) w.insert(0, 1, '(').push_back(')');
            return w;
        }
    }
}

}  // namespace

std::string sample_line(std::uint64_t seed, std::int64_t number_of_line) {
    Rng rng(seed, 0x7e47);
    rng.seek(static_cast<std::uint64_t>(number_of_line) * 4096);  // a stream of its own
    switch (rng.below(16)) {  // most lines are plain sentences of one language
        case 0:
        case 1:
        case 2:
            return sentence(rng, english) + " " + sentence(rng, english);
        case 3:
            return sentence(rng, german);
        case 4:
            return sentence(rng, chinese) + sentence(rng, chinese);
        case 5:
            return sentence(rng, japanese);
        case 6:
            return sentence(rng, arabic);
        case 7:
            return sentence(rng, hindi);
        case 8:
            return std::string(pick(rng, code));
        default:
            break;
    }
    std::string out;  // the others are a mixture
    if (rng.below(5) == 0) out += pick(rng, spaces);
    for (std::int64_t n = rng.below(5) + 1; n > 0; --n) {
        out += fragment(rng);
        const std::int64_t joint = rng.below(10);
        if (joint < 6)
            out += ' ';
        else if (joint == 6)
            out += pick(rng, spaces);
        else if (joint == 7)
            out += pick(rng, emoji);
        else if (joint == 8)
            out += ", ";
    }
    return out;
}

std::string sample_prose(std::uint64_t seed, std::int64_t bytes) {
    // Words by syllables, the k-th most frequent with a probability of about 1/k.
    static const Words heads = {"b", "c", "d", "f",  "g",  "h",  "l",  "m",  "n",  "p", "r", "s",
                                "t", "v", "w", "st", "tr", "ch", "sh", "br", "cl", "",  "",  "th"};
    static const Words cores = {"a", "e", "i", "o", "u", "ea", "ou", "ai", "ee", "io"};
    static const Words tails = {"",  "",  "n", "r",  "s",   "t",   "l",  "nd",
                                "m", "k", "x", "ng", "ght", "rst", "ck", "p"};
    Rng rng(seed, 0x9205);
    std::vector<std::string> words;
    for (int i = 0; i < 60000; ++i) {
        std::string w;
        // Frequent words are short.
        const std::int64_t syllables = 1 + (i > 100) + (i > 3000 ? rng.below(3) : 0);
        for (std::int64_t s = 0; s < syllables; ++s) {
            w += pick(rng, heads);
            w += pick(rng, cores);
            if (s + 1 == syllables || rng.below(2)) w += pick(rng, tails);
        }
        words.push_back(w);
    }
    std::string out;
    out.reserve(static_cast<std::size_t>(bytes) + 256);
    while (static_cast<std::int64_t>(out.size()) < bytes) {
        const std::int64_t n = 5 + rng.below(25);
        for (std::int64_t i = 0; i < n; ++i) {
            const double rank =
                std::exp(rng.uniform() * std::log(static_cast<double>(words.size())));
            std::string w = words[std::min(words.size() - 1, static_cast<std::size_t>(rank) - 1)];
            if (i == 0) w[0] = static_cast<char>(w[0] - 'a' + 'A');
            if (rng.below(40) == 0) w = number(rng);
            out += w;
            if (i + 1 < n) out += rng.below(9) == 0 ? ", " : " ";
        }
        out += rng.below(8) == 0 ? "?\n" : ".\n";
    }
    return out;
}

std::vector<std::string> lines_of_every_code_point() {
    std::vector<std::string> lines;
    std::string line;
    std::uint32_t in_line = 0;
    for (std::uint32_t c = 0; c < 0x110000; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        line += encode_utf8(c);
        if (in_line % 4 == 3) line += ' ';
        if (in_line % 16 == 7) line += 'a';
        const std::uint32_t limit = c < 0x10000 ? 128 : c < 0x40000 ? 256 : 4096;
        if (++in_line == limit) {
            lines.push_back(std::move(line));
            line.clear();
            in_line = 0;
        }
    }
    if (!line.empty()) lines.push_back(std::move(line));
    return lines;
}

}  // namespace fovea
