#include "fovea/tasks/pretrain_data.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/split.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

constexpr std::int64_t too_few = 20;  // documents to hold some of them out
constexpr double tail_share = 0.1;    // nanoGPT's habit for a single text

}  // namespace

PairFiles pair_files_of(const std::vector<std::string>& paths) {
    PairFiles files = pair_files_of(paths[0]);
    files.more_paths.assign(paths.begin() + 1, paths.end());
    return files;
}

void PretrainFiles::each(const Take& take, std::vector<std::string>* notes) const {
    if (!pairs) {
        for_each_document(
            documents,
            [&](std::string_view text, bool last) {
                take({&text, 1}, last);
            },
            notes);
        return;
    }
    const Problems problems = for_each_pair(*pairs, [&](TextPair&& pair) {
        const std::string_view texts[] = {pair.source, pair.target};
        take(texts, true);
    });
    if (notes) notes->insert(notes->end(), problems.notes.begin(), problems.notes.end());
}

PretrainData::PretrainData(const RunSettings& run, const PretrainSettings& settings,
                           const std::function<void(const std::string&)>& say)
    : seed_(run.options.seed) {
    const auto files_of = [&](const std::vector<std::string>& paths) {
        PretrainFiles files;
        if (settings.reads_pairs()) {
            files.pairs = pair_files_of(paths);
            files.pairs->source_key = settings.source_key;
            files.pairs->target_key = settings.target_key;
            files.pairs->skip_bad = run.skip_bad;
        } else {
            files.documents = {paths, document_form_of(settings.documents)};
        }
        return files;
    };
    std::vector<std::string> paths;
    for (const std::string& path : run.train) paths.push_back(rereadable(path));
    train_ = files_of(paths);
    if (run.has_dev_file()) dev_ = files_of({run.dev});
    std::vector<std::string> notes;
    std::uint64_t name = 0;
    train_.each(
        [&](std::span<const std::string_view> texts, bool last) {
            for (const std::string_view text : texts) {
                bytes_ += static_cast<std::int64_t>(text.size());
                name = document_name(name, text);
            }
            if (last) names_.push_back(name), name = 0;
        },
        &notes);
    for (const std::string& note : notes) say("data: " + note);
    if (names_.empty())
        fail_with(ErrorKind::bad_input, "give files with plain text", run.train[0],
                  ": there is no text in it");
    choose_parts(run);
    say_what(say);
}

void PretrainData::choose_parts(const RunSettings& run) {
    parts_.assign(names_.size(), Part::train);
    if (run.dev == "auto") {
        if (static_cast<std::int64_t>(names_.size()) < too_few)
            holds_out_tail_ = true;
        else
            // Two at least: a second text may come from another document.
            for (const std::size_t i : dev_split(
                     names_, {.share = std::max(0.05, 2.0 / static_cast<double>(names_.size())),
                             .none_below = too_few}))
                parts_[i] = Part::dev;
    }
    std::vector<std::uint64_t> learnt;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i] == Part::train) learnt.push_back(names_[i]);
    if (run.limit > 0 && run.limit < static_cast<std::int64_t>(learnt.size())) {
        const std::vector<std::uint8_t> kept = split_into(learnt, {&run.limit, 1}, seed_);
        for (std::size_t i = 0, k = 0; i < parts_.size(); ++i)
            if (parts_[i] == Part::train && kept[k++] == 0) parts_[i] = Part::left_out;
    }
    for (const Part p : parts_) learnt_ += p == Part::train, held_out_ += p == Part::dev;
}

void PretrainData::say_what(const std::function<void(const std::string&)>& say) const {
    const char* const what = train_.pairs ? "pairs" : "documents";
    say(fmt::format("data: {} {}, {:.1f} MB of text", learnt_, what,
                    static_cast<double>(bytes_) / 1e6));
    if (holds_out_tail_)
        say("data: the last tenth of the text is held out to measure on (--dev FILE gives other)");
    else if (held_out_ > 0)
        say(text_of("data: ", held_out_, " ", what,
                    " are held out to measure on (--dev FILE gives others)"));
}

void PretrainData::each_text(const std::function<void(std::string_view)>& take) const {
    std::size_t d = 0;
    train_.each([&](std::span<const std::string_view> texts, bool last) {
        expect_input(d < parts_.size(), "the files have changed while they were read");
        if (parts_[d] == Part::train)
            for (const std::string_view text : texts) take(text);
        d += last;
    });
}

PretrainData::Tokens PretrainData::encode(const Tokenizer& tokenizer,
                                          const TokenDocumentsOptions& options) const {
    TokenDocumentsMaker train(tokenizer, options), dev(tokenizer, options);
    std::size_t d = 0;
    train_.each([&](std::span<const std::string_view> texts, bool last) {
        expect_input(d < parts_.size(), "the files have changed while they were read");
        if (parts_[d] == Part::train) train.add(texts, last);
        if (parts_[d] == Part::dev) dev.add(texts, last);
        d += last;
    });
    if (dev_) dev_->each([&](const auto& texts, bool last) { dev.add(texts, last); });
    Tokens t{train.finish(), dev.finish()};
    if (holds_out_tail_ && t.train.size() > 0) t.dev = t.train.take_tail(tail_share);
    return t;
}

Json PretrainData::fingerprint() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (parts_[i] == Part::train) names.push_back(hash_text(names_[i]));
    return {{"train", hash_text(record_hash(names))}, {"records", learnt_}, {"seed", seed_}};
}

}  // namespace fovea
