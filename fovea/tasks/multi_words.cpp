#include "fovea/tasks/multi_words.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/split.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

constexpr std::int32_t not_counted = -100;

}  // namespace

void WordPart::prepare(RunSettings& run, const Say& say) {
    expect(run.body != nullptr, name(), ": stands beside another task");
    body_ = run.body;
    TaggedFiles files;
    files.paths = run.train;
    files.skip_bad = run.skip_bad;
    std::vector<TaggedWords> train = read(files), dev;
    keep_drawn(train, run.limit, run.options.seed);
    if (run.has_dev_file()) {
        files.paths = {run.dev};
        files.limit = run.dev_limit;
        dev = read(files);
    } else if (run.measures()) {
        std::vector<std::uint64_t> hashes;
        for (const TaggedWords& t : train) hashes.push_back(record_hash(t.words));
        dev = take_out(train, dev_split(hashes));
    }
    std::set<std::string> classes;
    std::vector<std::string> contents;
    for (const TaggedWords& t : train) {
        classes.insert(t.tags.begin(), t.tags.end());
        contents.insert(contents.end(), t.words.begin(), t.words.end());
        contents.insert(contents.end(), t.tags.begin(), t.tags.end());
    }
    classes_.assign(classes.begin(), classes.end());
    hash_ = hash_text(record_hash(contents));
    train_ = encoded(train);
    dev_ = encoded(dev);
    Rng rng(run.options.seed, 0x776f7264);
    head_.emplace(body_->encoder->width, static_cast<int>(classes_.size()),
                  Params(store_, rng) / "classifier");
    run.settle({});
    std::vector<std::int64_t> lengths;
    for (const EncodedWords& s : train_.words) lengths.push_back(s.tokens);
    batches_.emplace(lengths, run.batches);
    say(text_of(train.size(), " sentences, ", classes_.size(), " classes of words; ", dev.size(),
                " sentences to measure on"));
}

TrainSummary WordPart::summary() const {
    TrainSummary s;
    s.model = name();
    s.parameters = store_.count();
    s.records = static_cast<std::int64_t>(train_.words.size());
    s.batches_per_epoch = batches_->per_epoch();
    for (const EncodedWords& w : train_.words) s.tokens_per_epoch += w.tokens;
    return s;
}

TrainTask WordPart::task() {
    TrainTask t;
    t.store = &store_;
    t.fingerprint = {{"train", hash_}, {"records", train_.words.size()}};
    t.guessing_loss = std::log(static_cast<double>(classes_.size()));
    t.begin_epoch = [this](std::int64_t epoch) { return batches_->begin(epoch); };
    t.batch_weight = [this](std::int64_t b) {
        std::int64_t words = 0;
        for (const std::int64_t i : (*batches_)[b])
            words += train_.words[static_cast<std::size_t>(i)].words;
        return words;
    };
    t.loss = [this](std::int64_t b) {
        const auto chosen = (*batches_)[b];
        Ids classes;
        for (const std::int64_t i : chosen) {
            const Ids& own = train_.classes[static_cast<std::size_t>(i)];
            classes.insert(classes.end(), own.begin(), own.end());
        }
        return cross_entropy(logits(train_, chosen), classes, {.ignore = not_counted});
    };
    if (!dev_.words.empty()) t.evaluate = [this] { return evaluate(); };
    return t;
}

WordPart::Sentences WordPart::encoded(const std::vector<TaggedWords>& all) const {
    Sentences s;
    const WordReading reading{.tokenizer = body_->folder.tokenizer.get(),
                              .max_length = body_->encoder->max_length};
    for (const TaggedWords& t : all) {
        s.words.push_back(encode_words(reading, t.words));
        Ids& ids = s.classes.emplace_back();
        for (const std::string& tag : t.tags) {
            const auto at = std::lower_bound(classes_.begin(), classes_.end(), tag);
            const bool known = at != classes_.end() && *at == tag;
            ids.push_back(known ? static_cast<std::int32_t>(at - classes_.begin()) : not_counted);
        }
    }
    return s;
}

Tensor WordPart::logits(const Sentences& s, std::span<const std::int64_t> chosen) const {
    const WordBatch batch = pack_words(s.words, chosen);
    Tensor rows = gather_rows(body_->encoder->rows(batch.pieces), batch.rows);
    rows.set_row_names(batch.words);
    return (*head_)(dropout(rows, body_->encoder->dropout));
}

Evaluation WordPart::evaluate() const {
    double loss = 0;
    std::int64_t right = 0, words = 0, counted = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(dev_.words.size()); ++i) {
        const Tensor x = logits(dev_, {&i, 1});
        const std::vector<TokenScores> best = top_scores(x, 1);
        const Ids& wanted = dev_.classes[static_cast<std::size_t>(i)];
        for (std::size_t w = 0; w < wanted.size(); ++w) {
            ++words;
            if (wanted[w] == not_counted) continue;  // it cannot be right
            right += best[w].best[0] == wanted[w];
            loss -= static_cast<double>(best[w].log_prob(wanted[w]));
            ++counted;
        }
    }
    return {
        "accuracy",
        100 * static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(1, words)),
        true, loss / static_cast<double>(std::max<std::int64_t>(1, counted))};
}

}  // namespace fovea
