#include "fovea/tasks/generate.h"

#include <algorithm>
#include <map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/batch_plan.h"
#include "fovea/infer/any_order_stepper.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/stop_strings.h"

namespace fovea {
namespace {

// A word has one spelling at the start of a text and another behind a space; both are meant.
std::vector<Ids> bad_word_ids(const GenerateModel& model, std::span<const std::string> words) {
    std::vector<Ids> all;
    for (const std::string& word : words) {
        if (word.empty()) fail_with(ErrorKind::usage, "leave it out", "a bad word is empty");
        for (const std::string& spelling : {word, " " + word})
            if (Ids ids = model.encode(spelling);
                !ids.empty() && std::find(all.begin(), all.end(), ids) == all.end())
                all.push_back(std::move(ids));
    }
    return all;
}

// Tokens of a text that the model has in view when it tells the next.
std::int64_t view_of(const TextEncoder& network) {
    return network.max_length - (network.step ? 0 : 1);  // the row that tells stands behind them
}

DecodeRequest generate_request(const GenerateModel& model, const std::string& prompt,
                               const GenerateOptions& options, std::size_t number) {
    DecodeRequest r;
    r.prompt = prompt.empty() ? model.begin : model.encode(prompt);
    if (r.prompt.empty())
        fail_with(ErrorKind::usage, "give it a text to go on from", "generate: prompt ", number + 1,
                  " is empty, and the model names no token that a "
                  "text begins with");
    const std::int64_t context = view_of(*model.network);
    const auto length = static_cast<std::int64_t>(r.prompt.size());
    if (length > context)
        fail_with(ErrorKind::bad_input, "shorten it: what the model has not in view does not count",
                  "generate: prompt ", number + 1, " has ", length,
                  " tokens, but the model's "
                  "context is ",
                  context);
    r.limit = options.search.max_length;
    if (options.max_total > 0 && length >= options.max_total)
        fail_with(ErrorKind::bad_input,
                  "--max-tokens N says how many to write, whatever the prompt", "generate: prompt ",
                  number + 1, " has ", length,
                  " tokens, but the model's generation_config.json ends texts at ",
                  options.max_total, " (\"max_length\" counts the prompt)");
    if (options.max_total > 0) r.limit = std::min(r.limit, options.max_total - length);
    r.sample_id = number;
    return r;
}

// One batch of prompts: the search, and the texts that come out of it token by token.
class TextBatch {
public:
    TextBatch(const GenerateModel& model, const GenerateOptions& options,
              const GenerateHooks& hooks)
        : model_(model), options_(options), hooks_(hooks) {}

    void add(std::size_t prompt, DecodeRequest request) {
        numbers_.push_back(prompt);
        requests_.push_back(std::move(request));
    }

    void run(std::vector<GeneratedText>& out) {
        const PrecisionScope scope(model_.precision);
        const auto stepper = make_language_stepper(
            *model_.network, {.end_tokens = model_.end_tokens, .keep_rows = options_.keep_rows});
        SearchHooks search_hooks{.stop = hooks_.stop};
        if (!options_.stop.empty() && options_.search.beam > 1)
            search_hooks.ends = [this](std::int64_t request, const Ids& tokens) {
                return has_stop(static_cast<std::size_t>(request), tokens);
            };
        if (hooks_.on_text || !options_.stop.empty())
            search_hooks.on_token = [this](const SearchEvent& e) { return take(e); };
        auto found = search(*stepper, options_.search, requests_, search_hooks);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (options_.search.sample)  // as they were drawn, not ranked by a score
                std::stable_sort(found[i].begin(), found[i].end(),
                                 [](const auto& a, const auto& b) { return a.sample < b.sample; });
            for (Hypothesis& h : found[i]) {
                end_pieces(i, h.sample);
                out[numbers_[i]].samples.push_back(written(i, std::move(h)));
            }
        }
    }

private:
    StoppableText fresh_text(std::size_t request) const {
        return StoppableText(*model_.folder.tokenizer, requests_[request].prompt, options_.stop);
    }

    bool has_stop(std::size_t request, const Ids& tokens) const {
        StoppableText text = fresh_text(request);
        for (const std::int32_t t : tokens) text.push(t);
        text.finish();
        return text.stopped();
    }

    // A token is certain. False ends its sample: a stop string has come.
    bool take(const SearchEvent& e) {
        const auto request = static_cast<std::size_t>(e.sentence);
        const std::pair key{request, e.sample};
        auto at = pieces_.find(key);
        if (at == pieces_.end()) at = pieces_.emplace(key, Pieces{fresh_text(request)}).first;
        StoppableText& text = at->second.text;
        std::string piece = e.end ? std::string() : text.push(e.token);
        const bool last = e.last || text.stopped();
        if (last) piece += text.finish();
        at->second.ended = last;
        if (hooks_.on_text && (last || !piece.empty()))
            hooks_.on_text({numbers_[request], e.sample, piece, last});
        return !text.stopped();
    }

    // Texts that no token has ended: nothing was allowed any more, or the search was interrupted.
    void end_pieces(std::size_t request, int sample) {
        if (!hooks_.on_text) return;
        Pieces& p =
            pieces_.try_emplace({request, sample}, Pieces{fresh_text(request)}).first->second;
        if (!std::exchange(p.ended, true))
            hooks_.on_text({numbers_[request], sample, p.text.finish(), true});
    }

    GeneratedText::Sample written(std::size_t request, Hypothesis h) const {
        GeneratedText::Sample s;
        StoppableText text = fresh_text(request);
        for (const std::int32_t t : h.tokens) s.text += text.push(t);
        s.text += text.finish();
        const auto produced = static_cast<std::int64_t>(h.tokens.size());
        if (text.stopped()) {
            s.end = TextEnd::stop_string;
            s.stopped_by = text.stopped_by();
        } else if (h.finished) {
            s.end = TextEnd::token;
        } else if (produced < requests_[request].limit) {
            s.end = TextEnd::interrupted;
        }
        // The last token was told and not read.
        const auto prompt = static_cast<std::int64_t>(requests_[request].prompt.size());
        s.slid = prompt + produced > view_of(*model_.network) + 1;
        s.hypothesis = std::move(h);
        return s;
    }

    const GenerateModel& model_;
    const GenerateOptions& options_;
    const GenerateHooks& hooks_;
    std::vector<std::size_t> numbers_;  // of the prompts
    std::vector<DecodeRequest> requests_;
    struct Pieces {
        StoppableText text;
        bool ended = false;
    };
    std::map<std::pair<std::size_t, int>, Pieces> pieces_;  // by request and sample
};

}  // namespace

const char* name_of(TextEnd end) {
    switch (end) {
        case TextEnd::token:
            return "end";
        case TextEnd::stop_string:
            return "stop";
        case TextEnd::limit:
            return "limit";
        case TextEnd::interrupted:
            return "interrupted";
    }
    return "?";
}

std::vector<GeneratedText> generate(const GenerateModel& model,
                                    std::span<const std::string> prompts,
                                    const GenerateOptions& given, const GenerateHooks& hooks) {
    GenerateOptions options = given;
    options.search.check();
    const StoppableText checked(*model.folder.tokenizer, {}, options.stop);  // before any work
    for (Ids& word : bad_word_ids(model, options.bad_words))
        options.search.bad_words.push_back(std::move(word));
    std::vector<GeneratedText> out(prompts.size());
    std::vector<DecodeRequest> requests;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        requests.push_back(generate_request(model, prompts[i], options, options.first_prompt + i));
        lengths.push_back(static_cast<std::int64_t>(requests[i].prompt.size()));
        out[i].prompt_tokens = lengths[i];
    }
    const int rows = options.search.sample ? options.search.n_best : options.search.beam;
    const BatchPlan plan(lengths,
                         {.max_tokens = options.batch_tokens,
                          .max_examples = std::max<std::int64_t>(1, options.batch_prompts / rows),
                          .shuffle = false,
                          .bucket = false},
                         0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (hooks.stop && hooks.stop->load()) break;
        TextBatch batch(model, options, hooks);
        for (const std::int64_t i : plan[b])
            batch.add(static_cast<std::size_t>(i),
                      std::move(requests[static_cast<std::size_t>(i)]));
        batch.run(out);
        done += static_cast<std::int64_t>(plan[b].size());
        if (options.progress) options.progress(done, static_cast<std::int64_t>(prompts.size()));
    }
    return out;
}

std::string generate(const GenerateModel& model, const std::string& prompt) {
    const auto out =
        generate(model, std::span(&prompt, 1),
                 {.search = model.search, .max_total = model.max_total, .stop = model.stop});
    return out[0].samples.empty() ? "" : out[0].samples[0].text;
}

}  // namespace fovea
