#include "fovea/tasks/multi_texts.h"

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"
#include "fovea/data/split.h"

namespace fovea {

void TextPart::prepare(RunSettings& run, const Say& say) {
    expect(run.body != nullptr, name(), ": stands beside another task");
    body_ = run.body;
    make_head(run);
    read_texts(run);
    run.settle({});
    batches_.emplace(lengths_, run.batches);
    say(text_of(sequences_.size(), " texts"));
}

TrainSummary TextPart::summary() const {
    TrainSummary s;
    s.model = name();
    s.parameters = store_.count();
    s.records = static_cast<std::int64_t>(sequences_.size());
    s.batches_per_epoch = batches_->per_epoch();
    for (const std::int64_t n : lengths_) s.tokens_per_epoch += n;
    return s;
}

TrainTask TextPart::task() {
    TrainTask t;
    t.store = &store_;
    t.fingerprint = {{"train", hash_text(record_hash(contents_))}, {"records", sequences_.size()}};
    t.guessing_loss = guessing_loss();
    t.begin_epoch = [this](std::int64_t epoch) {
        epoch_ = epoch;
        return batches_->begin(epoch);
    };
    t.batch_weight = [this](std::int64_t b) {
        std::int64_t tokens = 0;
        for (const std::int64_t i : (*batches_)[b]) tokens += lengths_[static_cast<std::size_t>(i)];
        return tokens;
    };
    t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
    return t;
}

void TextPart::read_texts(const RunSettings& run) {
    contents_ = body_->texts;
    if (!run.train.empty()) contents_.clear();
    for (const std::string& path : run.train) {
        LineReader lines(path);
        for (std::string line; lines.next(line);)
            if (line.find_first_not_of(" \t\r") != std::string::npos)
                contents_.push_back(repair_utf8(line));
    }
    keep_drawn(contents_, run.limit, run.options.seed);
    const auto most = static_cast<std::size_t>(body_->encoder->max_length);
    for (const std::string& text : contents_) {
        const std::vector<TokenId> ids = body_->folder.tokenizer->encode_ids(text);
        if (ids.size() < 2) continue;
        const auto end = static_cast<std::ptrdiff_t>(std::min(ids.size(), most));
        sequences_.emplace_back(ids.begin(), ids.begin() + end);
        names_.push_back(record_hash({text}));
        lengths_.push_back(end);
    }
    expect_input(!sequences_.empty(), run.train.empty() ? "the first task" : run.train[0],
                 ": there is no text to learn from");
}

}  // namespace fovea
