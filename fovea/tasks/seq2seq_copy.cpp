#include "fovea/tasks/seq2seq_copy.h"

#include <algorithm>

#include "fovea/autograd/tape.h"
#include "fovea/base/json_fields.h"
#include "fovea/infer/copy_stepper.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/coverage.h"

namespace fovea {
namespace {

std::string_view surface(std::string_view text, const Encoding& e, std::size_t i) {
    const TextSpan span = e.offsets[i];
    return text.substr(static_cast<std::size_t>(span.begin),
                       static_cast<std::size_t>(span.end - span.begin));
}

std::int32_t place_of(std::vector<std::string>& words, std::string_view word, std::int32_t first) {
    const auto found = std::find(words.begin(), words.end(), word);
    const auto k = static_cast<std::int32_t>(found - words.begin());
    if (found == words.end()) words.emplace_back(word);
    return first + k;
}

std::string plain_text(const Tokenizer& tokenizer, const Ids& tokens) {
    std::string text = tokenizer.decode(tokens);
    if (!text.empty() && text[0] == ' ') text.erase(0, 1);  // the byte-level prefix space
    return text;
}

}  // namespace

Seq2SeqNetwork with_copying(Seq2SeqNetwork n, CopyParts parts,
                            std::shared_ptr<const PointerHead> head, float coverage) {
    const auto choice = [parts, head](const Seq2SeqBatch& b) {
        const CopyParts::Rows read = parts.read(b);
        expect(b.copies.size() == b.source.size(), "copy: ", b.source.size(), " source tokens but ",
               b.copies.size(), " to copy");
        const bool writes = head->mode == CopyMode::mixed;
        return (*head)(read.rows, head->keys(read.memory),
                       CopySources::all(b.target_segments, b.source_segments, b.copies),
                       writes ? parts.logits(read.rows) : Tensor());
    };
    n.copies = true;
    n.pass = [parts,
              head](const Seq2SeqBatch& b) {  // what stands at the places is nobody's business
        const CopyParts::Rows read = parts.read(b);
        (*head)(read.rows, head->keys(read.memory),
                CopySources::all(b.target_segments, b.source_segments, b.source),
                head->mode == CopyMode::mixed ? parts.logits(read.rows) : Tensor());
    };
    n.sizes += std::string(", copy ") + name_of(head->mode);
    n.sides.insert(n.sides.begin(), {"pointer", "target", "source"});
    if (coverage > 0) n.sizes += text_of(", coverage ", coverage);
    n.loss = [choice, coverage](const Seq2SeqBatch& b, float smoothing) {
        const CopyChoice c = choice(b);
        const Tensor loss = copy_loss(c, b.labels, {.smoothing = smoothing});
        if (coverage == 0 || !current_tape()) return loss;
        return loss + coverage * coverage_loss(c.scores, b.target_segments);
    };
    n.token_losses = [choice](const Seq2SeqBatch& b) {
        return copy_loss(choice(b), b.labels, {.reduction = Reduction::none});
    };
    const auto stepping = [parts, head, vocabulary = n.target_vocabulary,
                           unknown = n.unknown_token](const TokenBatch& sources,
                                                      const Ids& copies) {
        CopyParts::Steps steps = parts.steps(sources);
        return std::make_unique<CopyStepper>(
            std::move(steps.rows), CopyStepping{head, parts.logits, steps.memory, sources.segments,
                                                copies, vocabulary, unknown});
    };
    n.stepper = stepping;
    return n;
}

CopyMode copy_mode_in(const Json& config, const std::string& where) {
    JsonFields f(config, where);
    std::string name = "none";
    f.read("copy", name);
    try {
        return copy_mode_of(name);
    } catch (const Error& e) {
        throw Error(where + ": " + e.what(), ErrorKind::bad_input, e.hint());
    }
}

float coverage_in(const Json& config, const std::string& where) {
    float weight = 0;
    JsonFields(config, where).read("coverage", weight, {0, 1000});
    return weight;
}

CopiedText CopyVocabulary::source_of(std::string_view text) const {
    CopiedText out;
    const Encoding e = source.encode(text, {.offsets = OffsetUnit::bytes});
    const auto unknown = source.unk_id();
    for (std::size_t i = 0; i < e.ids.size(); ++i) {
        std::optional<TokenId> id = e.ids[i];
        if (unknown && *id == *unknown)
            id = std::nullopt;
        else if (&source != &target)
            id = target.token_to_id(e.tokens[i]);
        out.ids.push_back(id ? *id : place_of(out.words, surface(text, e, i), size));
    }
    if (e.ids.empty() || out.ids.back() != end) out.ids.push_back(end);
    return out;
}

Ids CopyVocabulary::labels_of(std::string_view text, const std::vector<std::string>& words) const {
    const Encoding e = target.encode(text, {.offsets = OffsetUnit::bytes});
    const auto unknown = target.unk_id();
    Ids ids;
    for (std::size_t i = 0; i < e.ids.size(); ++i) {
        ids.push_back(e.ids[i]);
        if (!unknown || e.ids[i] != *unknown) continue;
        const auto found = std::find(words.begin(), words.end(), surface(text, e, i));
        if (found != words.end())
            ids.back() = size + static_cast<std::int32_t>(found - words.begin());
    }
    if (ids.empty() || ids.back() != end) ids.push_back(end);
    return ids;
}

// Words of the source stand between spaces.
std::string CopyVocabulary::text_of(const Ids& tokens,
                                    const std::vector<std::string>& words) const {
    std::string text;
    Ids run;
    const auto say = [&](const std::string& part) {
        if (!part.empty()) text += (text.empty() ? "" : " ") + part;
    };
    for (const std::int32_t id : tokens) {
        if (id < size) {
            run.push_back(id);
            continue;
        }
        say(plain_text(target, run));
        run.clear();
        const auto k = static_cast<std::size_t>(id - size);
        say(k < words.size() ? words[k] : "<unk>");
    }
    say(plain_text(target, run));
    return text;
}

}  // namespace fovea
