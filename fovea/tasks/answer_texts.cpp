#include "fovea/tasks/answer_texts.h"

#include <algorithm>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::int64_t longest_question = 64;  // tokens, where the context needs the room
constexpr std::int64_t most_overlap = 128;     // tokens that windows share

// Where windows of `room` tokens begin that together hold `tokens`.
std::vector<std::int64_t> reading_starts(std::int64_t tokens, std::int64_t room) {
    std::vector<std::int64_t> starts{0};
    const std::int64_t step = room - std::min(most_overlap, room / 2);
    while (starts.back() + room < tokens) starts.push_back(starts.back() + step);
    return starts;
}

void append_ids(Ids& to, const Ids& from) { to.insert(to.end(), from.begin(), from.end()); }

// A question and its context are samples of their own: their dropout masks differ.
Segments parts_of(std::span<const std::int64_t> indices, std::span<const std::int64_t> lengths) {
    std::vector<std::uint64_t> names;
    for (const std::int64_t i : indices)
        for (const std::uint64_t side : {std::uint64_t{0}, std::uint64_t{1}})
            names.push_back(2 * static_cast<std::uint64_t>(i) + side);
    return Segments::of_lengths(lengths, std::move(names));
}

}  // namespace

AnswerTexts::AnswerTexts(const AnswerModel& model) : model_(&model), no_word_(forms_.add("")) {}

std::int64_t AnswerTexts::windows_of(std::size_t question) const {
    return asked_[question].windows;
}

ReadText AnswerTexts::tokens_of(const std::string& text) {
    const Encoding e =
        model_->folder.tokenizer->encode(text, {.add_special_tokens = false,
                                                .offsets = OffsetUnit::bytes,
                                                .truncation = Truncation{.max_length = 0}});
    ReadText out;
    out.ids.assign(e.ids.begin(), e.ids.end());
    out.offsets = e.offsets;
    if (model_->network->reads_words)
        for (const TextSpan& s : e.offsets)
            out.forms.push_back(forms_.add(std::string_view(text).substr(
                static_cast<std::size_t>(s.begin), static_cast<std::size_t>(s.end - s.begin))));
    return out;
}

std::size_t AnswerTexts::context_number(const std::shared_ptr<const std::string>& text) {
    if (const auto known = numbers_.find(*text); known != numbers_.end()) return known->second;
    contexts_.push_back({text, tokens_of(*text)});
    return numbers_.emplace(*text, contexts_.size() - 1).first->second;
}

void AnswerTexts::add(const std::string& question,
                      const std::shared_ptr<const std::string>& context) {
    Asked asked;
    asked.context = context_number(context);
    asked.tokens = tokens_of(question);
    asked_.push_back(std::move(asked));
    add_windows(asked_.size() - 1);
}

void AnswerTexts::add_windows(std::size_t question) {
    Asked& asked = asked_[question];
    const auto tokens = static_cast<std::int64_t>(contexts_[asked.context].tokens.ids.size());
    asked.first_window = static_cast<std::int64_t>(windows_.size());
    if (tokens == 0) return;
    const bool words = model_->network->reads_words;
    const std::int64_t added = words ? 1 : model_->frame.added();
    const std::int64_t all = model_->network->max_length - added;
    // A long question leaves half of the room to the context.
    const std::int64_t most = std::max(all - tokens, std::min(longest_question, all / 2));
    auto asks = static_cast<std::int64_t>(asked.tokens.ids.size());
    if (asks > most) {
        asked.cut = true;
        asks = most;
        asked.tokens.ids.resize(static_cast<std::size_t>(most));
        if (words) asked.tokens.forms.resize(static_cast<std::size_t>(most));
    }
    const std::int64_t room = all - asks;
    const std::vector<std::int64_t> starts = reading_starts(tokens, room);
    for (std::size_t w = 0; w < starts.size(); ++w) {
        ReadingWindow window{.question = question, .from = starts[w]};
        window.count = std::min(room, tokens - starts[w]);
        window.tokens = asks + added + window.count;
        window.none = words ? 0 : model_->none_row < 0 ? window.tokens - 1 : model_->none_row;
        window.first = words ? 1
                             : static_cast<std::int64_t>(model_->frame.front.ids.size() +
                                                         model_->frame.middle.ids.size()) +
                                   asks;
        // Two windows that overlap meet in the middle of what they share.
        const auto meet = [&](std::size_t left) {
            return (starts[left + 1] + std::min(starts[left] + room, tokens)) / 2;
        };
        window.judged_from = w == 0 ? 0 : meet(w - 1);
        window.judged_to = w + 1 == starts.size() ? tokens : meet(w);
        windows_.push_back(window);
    }
    asked.windows = static_cast<std::int64_t>(starts.size());
}

void AnswerTexts::append_encoder_window(const ReadingWindow& w, Ids& ids, Ids& types) const {
    const SequenceFrame& f = model_->frame;
    const Ids& question = asked_[w.question].tokens.ids;
    const Ids& context = context_tokens(w.question).ids;
    append_ids(ids, f.front.ids);
    append_ids(ids, question);
    append_ids(ids, f.middle.ids);
    ids.insert(ids.end(), context.begin() + w.from, context.begin() + w.from + w.count);
    append_ids(ids, f.back.ids);
    append_ids(types, f.front.types);
    types.insert(types.end(), question.size(), f.first_type);
    append_ids(types, f.middle.types);
    types.insert(types.end(), static_cast<std::size_t>(w.count), f.second_type);
    append_ids(types, f.back.types);
}

// The words of the windows, each different one once, and what is known of them.
void AnswerTexts::add_words(std::span<const std::int64_t> indices, ReadingBatch& batch) const {
    std::unordered_map<std::int32_t, std::int32_t> local;
    std::vector<std::int64_t> part_lengths, word_lengths;
    std::vector<float> features;
    const std::int32_t none_id = model_->folder.tokenizer->eos_id().value_or(0);
    for (const std::int64_t i : indices) {
        const ReadingWindow& w = windows_[static_cast<std::size_t>(i)];
        const ReadText& question = asked_[w.question].tokens;
        const ReadText& context = context_tokens(w.question);
        append_ids(batch.tokens.tokens, question.ids);
        batch.tokens.tokens.push_back(none_id);
        batch.tokens.tokens.insert(batch.tokens.tokens.end(), context.ids.begin() + w.from,
                                   context.ids.begin() + w.from + w.count);
        Ids forms{no_word_};
        forms.insert(forms.end(), context.forms.begin() + w.from,
                     context.forms.begin() + w.from + w.count);
        append_reading_features(forms_, question.forms, forms, features);
        part_lengths.push_back(static_cast<std::int64_t>(question.ids.size()));
        part_lengths.push_back(1 + w.count);
        for (const Ids* side : {&question.forms, static_cast<const Ids*>(&forms)})
            for (const std::int32_t form : *side) {
                const auto [at, fresh] =
                    local.emplace(form, static_cast<std::int32_t>(local.size()));
                batch.forms.push_back(at->second);
                if (!fresh) continue;
                append_ids(batch.letters, forms_[form].letters);
                word_lengths.push_back(static_cast<std::int64_t>(forms_[form].letters.size()));
            }
    }
    batch.parts = parts_of(indices, part_lengths);
    batch.words = Segments::of_lengths(word_lengths);
    batch.features = Tensor::of(
        {static_cast<std::int64_t>(batch.tokens.tokens.size()), reading_features}, features);
}

ReadingBatch AnswerTexts::pack(std::span<const std::int64_t> indices) const {
    ReadingBatch batch;
    std::vector<std::int64_t> lengths;
    std::vector<std::uint64_t> names;
    for (const std::int64_t i : indices) {
        lengths.push_back(windows_[static_cast<std::size_t>(i)].tokens);
        names.push_back(static_cast<std::uint64_t>(i));
    }
    batch.tokens.segments = Segments::of_lengths(lengths, std::move(names));
    if (model_->network->reads_words) {
        add_words(indices, batch);
        return batch;
    }
    for (const std::int64_t i : indices)
        append_encoder_window(windows_[static_cast<std::size_t>(i)], batch.tokens.tokens,
                              batch.tokens.types);
    if (!model_->frame.has_types()) batch.tokens.types.clear();
    return batch;
}

std::pair<std::int32_t, std::int32_t> AnswerTexts::rows_of(const ReadingWindow& w,
                                                           const AnswerText* answer) const {
    const auto none = static_cast<std::int32_t>(w.none);
    if (!answer) return {none, none};
    const std::string& text = context(w.question);
    std::size_t begin = 0;
    for (std::int64_t c = 0; c < answer->start && begin < text.size(); ++c)
        begin += static_cast<std::size_t>(utf8_size(text[begin]));
    const std::size_t end = begin + answer->text.size();
    const auto& offsets = context_tokens(w.question).offsets;
    std::int64_t first = -1, last = -1;
    for (std::size_t t = 0; t < offsets.size(); ++t) {
        if (static_cast<std::size_t>(offsets[t].end) <= begin) continue;
        if (static_cast<std::size_t>(offsets[t].begin) >= end) break;
        if (first < 0) first = static_cast<std::int64_t>(t);
        last = static_cast<std::int64_t>(t);
    }
    if (first < w.from || last >= w.from + w.count) return {none, none};
    return {static_cast<std::int32_t>(w.first + first - w.from),
            static_cast<std::int32_t>(w.first + last - w.from)};
}

}  // namespace fovea
