#include "check_encoding.h"
#include "fovea/bench/sample_lines.h"
#include "fovea/text/steps/word_splitter.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {

namespace {

// Small tokenizers of four kinds, trained on sample lines: the same on every machine.
const std::vector<Tokenizer>& tokenizers() {
    static const std::vector<Tokenizer> all = [] {
        std::vector<Tokenizer> made;
        for (const char* recipe : {"gpt2", "llama", "bert-uncased", "t5"}) {
            TokenizerTraining training = training_like(recipe);
            training.vocab_size = 700;
            training.limit_alphabet = 300;
            const WordSplitter splitter(training.words_as ? *training.words_as : training.pipeline);
            WordCounts words;
            for (int i = 0; i < 400; ++i)
                splitter.split(sample_line(5, i), [&](std::string_view w) { words.add(w); });
            made.emplace_back(train_tokenizer(words, training));
        }
        return made;
    }();
    return all;
}

}  // namespace

void fuzz_stream_decoder(FuzzBytes data) {
    if (data.empty()) return;
    const Tokenizer& t = tokenizers()[data[0] % tokenizers().size()];
    const bool skip_special = data[0] < 128;
    StreamDecoder stream(t, skip_special);
    std::vector<TokenId> ids;
    std::string streamed;
    for (std::size_t i = 1; i + 1 < data.size() && ids.size() < 200; i += 2) {
        // One id more than there are: unknown ids are left out.
        ids.push_back(static_cast<TokenId>((data[i] * 256 + data[i + 1]) % (t.vocab_size() + 1)));
        const std::string part = stream.push(ids.back());
        property(valid_by_utf8proc(part), "a stream gives whole characters");
        streamed += part;
    }
    streamed += stream.finish();
    property(valid_by_utf8proc(streamed), "streamed text is UTF-8");
    // WordPiece's clean-up takes back what it has said ("do" "n't"): there only UTF-8 is promised.
    if (t.spec().decoder && std::holds_alternative<decoder::WordPiece>(t.spec().decoder->front()))
        return;
    property(streamed == t.decode(ids, skip_special), "streamed text is the decoded text");
}

}  // namespace fovea
