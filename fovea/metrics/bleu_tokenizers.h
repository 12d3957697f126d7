#pragma once
// The tokenizers of sacreBLEU (Post 2018, "A call for clarity in reporting BLEU scores"), so that
// scores can be compared with published ones. Names are those of its signatures.
// Thread-safety: pure functions, safe from any thread.
#include <span>
#include <string>
#include <string_view>

namespace fovea {

enum class BleuTokenizer {
    none,   // split at white space only
    v13a,   // the WMT standard (mteval-v13a): Western punctuation, numbers kept whole
    intl,   // mteval-v14 international: Unicode punctuation and symbols
    chars,  // every character a token
    zh,     // Chinese characters apart, the rest as 13a without its unescaping
};

// "none", "13a", "intl", "char", "zh"; a wrong name is a usage error that lists the right ones.
BleuTokenizer bleu_tokenizer(std::string_view name);
const char* name_of(BleuTokenizer tokenizer);

// The line with its tokens apart, to be split at white space.
std::string tokenize_for_bleu(BleuTokenizer tokenizer, std::string_view line);

// The tokenizer that fits the language of the references, by its letters: zh where a quarter or
// more of them are Chinese characters; char for scripts that are written without spaces between
// words (Japanese, Thai, Lao, Khmer, Burmese, Tibetan), where 13a would see whole sentences as one
// token; else 13a. (Published scores of Japanese often count the words of MeCab: not comparable
// with char.)
BleuTokenizer fitting_tokenizer(std::span<const std::string> references);

}  // namespace fovea
