#include "fovea/tasks/pretrain_batch.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/permutation.h"

namespace fovea {
namespace {

SequenceFrame frame_for(Objective objective, const Tokenizer& tokenizer) {
    if (objective == Objective::causal) return {};
    return objective == Objective::masked_and_next ? pair_frame(tokenizer)
                                                   : single_frame(tokenizer);
}

void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

TokenDocumentsOptions documents_for(const SequenceOptions& options, const Tokenizer& tokenizer) {
    TokenDocumentsOptions o;
    if (options.pairs) return o;
    const Objective objective = options.objective;
    const std::int64_t length = options.length;
    o.sentences = objective != Objective::causal;
    const std::int64_t room = length - frame_for(objective, tokenizer).added();
    if (o.sentences) o.max_sentence = objective == Objective::masked_and_next ? room / 2 : room;
    if (o.sentences && o.max_sentence < 1)
        fail_with(ErrorKind::usage, "a longer --context", "pretrain: a context of ", length,
                  " tokens has no room for text");
    if (objective == Objective::causal) o.joint = tokenizer.eos_id();
    if (objective == Objective::masked || objective == Objective::permuted)
        o.joint = tokenizer.sep_id() ? tokenizer.sep_id() : tokenizer.eos_id();
    return o;
}

PretrainSequences::PretrainSequences(const TokenDocuments& documents, const Tokenizer& tokenizer,
                                     const SequenceOptions& options)
    : documents_(documents), options_(options), frame_(frame_for(options.objective, tokenizer)) {
    if (options.objective == Objective::causal) return;
    if (options.pairs) languages_.emplace(tokenizer);
    types_ = pair_frame(tokenizer).has_types();
    if (hides_tokens(options.objective))
        masker_.emplace(options.masking, mask_vocabulary(tokenizer));
    for (TokenId id = 0; id < tokenizer.vocab_size(); ++id)
        if (tokenizer.is_special(id)) special_.push_back(id);
}

void PretrainSequences::begin(std::int64_t epoch) {
    epoch_ = epoch;
    if (options_.pairs) return begin_translations(epoch);
    const bool causal = options_.objective == Objective::causal;
    // A model that tells in any order reads its last target too.
    const std::int64_t room =
        options_.length - frame_.added() - (causal && options_.any_order ? 1 : 0);
    switch (options_.objective) {
        case Objective::causal:
            packed_ = causal_contexts(documents_.size(),
                                      {.length = room,
                                       .shift = options_.measuring || documents_.size() <= 2 * room
                                                    ? 0
                                                    : context_shift(room, options_.seed, epoch),
                                       .keep_rest = options_.measuring});
            break;
        case Objective::masked:
        case Objective::permuted:
            packed_ = sentence_blocks(documents_, room);
            break;
        case Objective::translated:
        case Objective::masked_and_translated:
            expect(false, "pretrain: ", name_of(options_.objective), " without pairs");
            break;
        case Objective::masked_and_next:
            packed_ =
                sentence_pairs(documents_, {.length = room, .seed = options_.seed, .epoch = epoch});
            break;
    }
    lengths_.clear();
    for (const PackedText& p : packed_)
        lengths_.push_back(p.size() + frame_.added() + (causal && options_.any_order ? 1 : 0));
}

std::int64_t PretrainSequences::tokens() const {
    return std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0});
}

PretrainBatch PretrainSequences::batch(std::span<const std::int64_t> indices) const {
    PretrainBatch b;
    std::vector<std::int64_t> lengths, before_lengths;
    std::vector<std::uint64_t> samples;
    for (const std::int64_t i : indices) {
        const PackedText& text = packed_[static_cast<std::size_t>(i)];
        lengths.push_back(lengths_[static_cast<std::size_t>(i)]);
        samples.push_back(static_cast<std::uint64_t>(i));
        const std::size_t before = b.chosen.labels.size();
        if (options_.pairs)
            add_translated(text, b);
        else if (options_.objective == Objective::causal)
            add_causal(text, b);
        else if (options_.objective == Objective::permuted)
            add_permuted(text, b);
        else
            add_masked(text, b);
        b.told.push_back(static_cast<std::int64_t>(b.chosen.labels.size() - before));
        const std::size_t known = b.before.tokens.size();
        add_before(text, b.before);
        before_lengths.push_back(static_cast<std::int64_t>(b.before.tokens.size() - known));
    }
    b.left_to_right = options_.objective == Objective::causal;
    b.before.segments = Segments::of_lengths(before_lengths, samples);
    b.tokens.segments = Segments::of_lengths(lengths, std::move(samples));
    return b;
}

// The text as it stands, without special tokens: what a memory is made of.
void PretrainSequences::add_before(const PackedText& text, TokenBatch& to) const {
    const auto end = documents_.tokens().begin() + text.first.begin;
    const std::int64_t size = std::min(options_.memory, text.first.begin);
    to.tokens.insert(to.tokens.end(), end - size, end);
}

void PretrainSequences::add_causal(const PackedText& text, PretrainBatch& to) const {
    const auto all = documents_.tokens();
    const auto begin = all.begin() + text.first.begin, end = all.begin() + text.first.end;
    to.tokens.tokens.insert(to.tokens.tokens.end(), begin, end + (options_.any_order ? 1 : 0));
    if (options_.any_order) {
        const auto size = static_cast<std::int32_t>(text.first.size());
        for (std::int32_t i = 0; i <= size; ++i) to.order.push_back(i);
        to.predicted.push_back(size);  // all but the first
    }
    to.chosen.labels.insert(to.chosen.labels.end(), begin + 1, end + 1);
}

void PretrainSequences::add_runs(const TokenRange& range, std::uint32_t again,
                                 std::vector<TextRun>& runs) const {
    for (std::int64_t at = range.begin; at < range.end;) {
        const std::int64_t d = documents_.document_at(at);
        const TokenRange document = documents_.document(d);
        const std::int64_t end = std::min(range.end, document.end);
        runs.push_back({documents_.name(d), at - document.begin, end - at, again});
        at = end;
    }
}

void PretrainSequences::add_masked(const PackedText& text, PretrainBatch& to) const {
    const auto all = documents_.tokens();
    Ids tokens(all.begin() + text.first.begin, all.begin() + text.first.end);
    tokens.insert(tokens.end(), all.begin() + text.second.begin, all.begin() + text.second.end);
    std::vector<TextRun> runs;
    add_runs(text.first, 0, runs);
    // A text from elsewhere may stand in the epoch a second time: other masks, named by its host.
    const auto host = static_cast<std::uint32_t>(runs[0].document ^ runs[0].document >> 32) | 1;
    add_runs(text.second, text.follows ? 0 : host, runs);

    ChosenTokens chosen;
    masker_->mask(tokens, runs, epoch_, 0, chosen);
    const auto first = static_cast<std::size_t>(text.first.size());
    const auto base = static_cast<std::int32_t>(to.tokens.tokens.size() + frame_.front.ids.size());
    const auto gap = static_cast<std::int32_t>(frame_.middle.ids.size());
    for (std::int32_t& row : chosen.rows)
        row += base + (static_cast<std::size_t>(row) >= first ? gap : 0);
    append(to.chosen.rows, chosen.rows);
    append(to.chosen.labels, chosen.labels);

    add_framed(text, tokens, to);
    if (options_.objective == Objective::masked_and_next) to.next.push_back(text.follows ? 0 : 1);
}

void PretrainSequences::add_permuted(const PackedText& text, PretrainBatch& to) const {
    const auto all = documents_.tokens();
    const Ids tokens(all.begin() + text.first.begin, all.begin() + text.first.end);
    const std::int64_t d = documents_.document_at(text.first.begin);
    // Named by the document and the place in it where the block begins.
    const std::uint64_t name =
        documents_.name(d) +
        static_cast<std::uint64_t>(text.first.begin - documents_.document(d).begin);
    const std::size_t before = to.tokens.tokens.size();
    add_framed(text, tokens, to);
    const Ids framed(to.tokens.tokens.begin() + static_cast<std::ptrdiff_t>(before),
                     to.tokens.tokens.end());
    const PermutationExample drawn = draw_permutation(
        framed, options_.seed, static_cast<std::uint64_t>(epoch_), name, {.never = special_});
    append(to.order, drawn.order);
    to.predicted.push_back(drawn.predicted);
    for (std::size_t i = drawn.order.size() - static_cast<std::size_t>(drawn.predicted);
         i < drawn.order.size(); ++i)
        to.chosen.labels.push_back(framed[static_cast<std::size_t>(drawn.order[i])]);
}

// The special tokens around the text, and the types of all.
void PretrainSequences::add_framed(const PackedText& text, const Ids& tokens,
                                   PretrainBatch& to) const {
    Ids& out = to.tokens.tokens;
    append(out, frame_.front.ids);
    out.insert(out.end(), tokens.begin(), tokens.begin() + text.first.size());
    append(out, frame_.middle.ids);
    out.insert(out.end(), tokens.begin() + text.first.size(), tokens.end());
    append(out, frame_.back.ids);
    if (types_) {
        Ids& types = to.tokens.types;
        append(types, frame_.front.types);
        types.insert(types.end(), static_cast<std::size_t>(text.first.size()), frame_.first_type);
        append(types, frame_.middle.types);
        types.insert(types.end(), static_cast<std::size_t>(text.second.size()), frame_.second_type);
        append(types, frame_.back.types);
    }
}

void PretrainSequences::begin_translations(std::int64_t epoch) {
    const TranslationView view =
        options_.objective == Objective::translated              ? TranslationView::together
        : options_.objective == Objective::masked_and_translated ? TranslationView::either
                                                                 : TranslationView::apart;
    packed_ = translations(documents_, {.view = view,
                                        .length = options_.length - languages_->added(true),
                                        .alone_length = options_.length - languages_->added(false),
                                        .seed = options_.seed,
                                        .epoch = epoch});
    lengths_.clear();
    for (const PackedText& p : packed_)
        lengths_.push_back(p.size() + languages_->added(p.first.size() > 0 && p.second.size() > 0));
}

// The masks of a text are the same whether its translation is in view or not.
void PretrainSequences::add_translated(const PackedText& text, PretrainBatch& to) const {
    const auto masked = [&](const TokenRange& range, ChosenTokens& chosen) {
        const auto all = documents_.tokens();
        Ids tokens(all.begin() + range.begin, all.begin() + range.end);
        std::vector<TextRun> runs;
        add_runs(range, 0, runs);
        if (!tokens.empty()) masker_->mask(tokens, runs, epoch_, 0, chosen);
        return tokens;
    };
    ChosenTokens first, second;
    const Ids a = masked(text.first, first), b = masked(text.second, second);
    const LanguageFrame::Rows rows = languages_->put(a, b, to.tokens);
    const auto choose = [&](const ChosenTokens& chosen, std::int64_t from) {
        for (const std::int32_t row : chosen.rows)
            to.chosen.rows.push_back(row + static_cast<std::int32_t>(from));
        append(to.chosen.labels, chosen.labels);
    };
    choose(first, rows.first);
    choose(second, rows.second);
}

}  // namespace fovea
