#include "fovea/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/base/utf8.h"
#include "fovea/text/json/tokenizer_json.h"
#include "fovea/text/pipeline.h"
#include "fovea/text/steps/decoders.h"
#include "fovea/text/steps/post_processors.h"

namespace fovea {

namespace {

// Texts of a batch are handed out in pieces of this many.
constexpr std::int64_t batch_grain = 16;

// Index of the character that each byte of the text belongs to.
void index_chars(std::string_view text, std::vector<std::int32_t>& char_at) {
    char_at.resize(text.size() + 1);
    std::int32_t n = -1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        n += !is_continuation(text[i]);
        char_at[i] = n;
    }
    char_at[text.size()] = n + 1;
}

using Role = std::optional<std::string> SpecialTokens::*;

// The usual spellings, for files that do not say which token plays which part.
void guess_roles(SpecialTokens& roles, const text::Pipeline& pipeline) {
    struct Guess {
        Role role;
        std::array<const char*, 3> spellings;
    };
    static const Guess guesses[] = {
        {&SpecialTokens::bos, {"<s>", "<|endoftext|>", "[BOS]"}},
        {&SpecialTokens::eos, {"</s>", "<|endoftext|>", "[EOS]"}},
        {&SpecialTokens::unk, {"[UNK]", "<unk>", "<|endoftext|>"}},
        {&SpecialTokens::sep, {"[SEP]", "</s>", "<sep>"}},
        {&SpecialTokens::pad, {"[PAD]", "<pad>", "<|pad|>"}},
        {&SpecialTokens::cls, {"[CLS]", "<s>", "<cls>"}},
        {&SpecialTokens::mask, {"[MASK]", "<mask>", "<|mask|>"}},
    };
    const bool any =
        roles.bos || roles.eos || roles.unk || roles.sep || roles.pad || roles.cls || roles.mask;
    if (any) return;
    for (const Guess& g : guesses)
        for (const char* s : g.spellings)
            if (!(roles.*g.role) && pipeline.find(s) >= 0) roles.*g.role = s;
}

}  // namespace

struct Tokenizer::State {
    explicit State(TokenizerSpec spec)
        : pipeline(std::move(spec)),
          post_processor(pipeline.spec().post_processor),
          decoder(pipeline.spec().decoder),
          roles(pipeline.spec().special_tokens) {
        post_processor.check_ids(pipeline.end_id());
        guess_roles(roles, pipeline);
        fixed_around = post_processor.around(before, after);
    }

    text::Pipeline pipeline;
    text::PostProcessorChain post_processor;
    text::DecoderChain decoder;
    SpecialTokens roles;
    std::vector<TokenId> before, after;  // special tokens around one text
    bool fixed_around = false;

    // Workspaces that no thread is using.
    mutable std::mutex mutex;
    mutable std::vector<std::unique_ptr<text::Workspace>> idle;

    class Borrowed {
    public:
        explicit Borrowed(const State& state) : state_(state) {
            const std::lock_guard lock(state.mutex);
            if (!state.idle.empty()) {
                work_ = std::move(state.idle.back());
                state.idle.pop_back();
            }
            if (!work_) work_ = std::make_unique<text::Workspace>();
        }
        ~Borrowed() {
            const std::lock_guard lock(state_.mutex);
            state_.idle.push_back(std::move(work_));
        }
        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;
        text::Workspace& operator*() const { return *work_; }

    private:
        const State& state_;
        std::unique_ptr<text::Workspace> work_;
    };

    // One text, without special tokens.
    Encoding sequence(std::string_view text, int which, const EncodeOptions& options,
                      text::Workspace& work) const {
        std::string repaired;
        const bool ascii = is_ascii(text);
        if (!ascii && !is_utf8(text)) {
            repaired = repair_utf8(text);
            text = repaired;
        }
        pipeline.encode(text, true, options.dropout, work);
        const text::Sequence& s = work.sequence;
        const std::size_t n = s.ids.size();
        Encoding e;
        e.ids = s.ids;
        e.offsets = s.spans;
        e.word_ids = s.words;
        e.type_ids.assign(n, which);
        e.sequence_ids.assign(n, which);
        e.special_mask.assign(n, 0);
        e.tokens.reserve(n);
        for (const TokenId id : s.ids) e.tokens.emplace_back(pipeline.token(id));
        for (const auto& [i, name] : s.names) e.tokens[i] = name;
        if (!ascii && options.offsets == OffsetUnit::characters) {
            index_chars(text, work.char_at);
            for (TextSpan& o : e.offsets)
                o = {work.char_at[static_cast<std::size_t>(o.begin)],
                     work.char_at[static_cast<std::size_t>(o.end)]};
        }
        return e;
    }

    Encoding finish(std::vector<Encoding> encodings, const EncodeOptions& options) const {
        const auto& how = options.truncation ? options.truncation : pipeline.spec().truncation;
        if (how && (!options.truncation || how->max_length > 0)) {
            Truncation t = *how;
            if (options.add_special_tokens) {
                const std::int64_t added = post_processor.tokens_added(encodings.size() > 1);
                expect_input(t.max_length >= added, "truncation: to ", t.max_length,
                             " tokens, but ", added, " special tokens are added");
                t.max_length -= added;
            }
            text::truncate(encodings, t);
        }
        return post_processor.process(std::move(encodings), options.add_special_tokens);
    }

    void ids(std::string_view text, std::vector<TokenId>& out, bool add_special_tokens,
             text::Workspace& work) const {
        const bool specials = add_special_tokens && fixed_around;
        std::string repaired;
        if (!is_ascii(text) && !is_utf8(text)) {
            repaired = repair_utf8(text);
            text = repaired;
        }
        pipeline.encode(text, false, nullptr, work);
        if (specials) out.insert(out.end(), before.begin(), before.end());
        out.insert(out.end(), work.sequence.ids.begin(), work.sequence.ids.end());
        if (specials) out.insert(out.end(), after.begin(), after.end());
    }
    // Whether ids() gives what encode() would.
    bool ids_suffice(bool add_special_tokens) const {
        return (fixed_around || !add_special_tokens) && !pipeline.spec().truncation;
    }

    std::optional<TokenId> role(const std::optional<std::string>& token) const {
        const TokenId id = token ? pipeline.find(*token) : -1;
        return id >= 0 ? std::optional(id) : std::nullopt;
    }
};

Tokenizer::Tokenizer(TokenizerSpec spec) : state_(std::make_unique<State>(std::move(spec))) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& where) {
    return Tokenizer(read_tokenizer_json(json, where));
}

std::string Tokenizer::to_json() const { return write_tokenizer_json(spec()); }

void Tokenizer::save(const std::string& path) const {
    const auto* spm = std::get_if<SentencePieceSpec>(&spec().model);
    const bool as_model = path.ends_with(".model") || path.ends_with(".spm");
    if (as_model && !spm)
        fail_with(ErrorKind::usage, "give it a name that ends in .json", path,
                  ": only a SentencePiece model can be written as .model");
    write_file_atomically(path, as_model ? spm->proto : to_json());
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
    const State::Borrowed work(*state_);
    std::vector<Encoding> one;
    one.push_back(state_->sequence(text, 0, options, *work));
    return state_->finish(std::move(one), options);
}

Encoding Tokenizer::encode_pair(std::string_view text, std::string_view pair,
                                const EncodeOptions& options) const {
    const State::Borrowed work(*state_);
    std::vector<Encoding> both;
    both.push_back(state_->sequence(text, 0, options, *work));
    both.push_back(state_->sequence(pair, 1, options, *work));
    return state_->finish(std::move(both), options);
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const std::string> texts,
                                              const EncodeOptions& options) const {
    expect(!options.dropout, "tokenizer: a batch cannot draw dropout from one generator");
    std::vector<Encoding> out(texts.size());
    parallel_for(static_cast<std::int64_t>(texts.size()), batch_grain,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i)
                         out[static_cast<std::size_t>(i)] =
                             encode(texts[static_cast<std::size_t>(i)], options);
                 });
    return out;
}

std::vector<Encoding> Tokenizer::encode_batch(
    std::span<const std::pair<std::string, std::string>> pairs,
    const EncodeOptions& options) const {
    expect(!options.dropout, "tokenizer: a batch cannot draw dropout from one generator");
    std::vector<Encoding> out(pairs.size());
    parallel_for(static_cast<std::int64_t>(pairs.size()), batch_grain,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                         const auto& [a, b] = pairs[static_cast<std::size_t>(i)];
                         out[static_cast<std::size_t>(i)] = encode_pair(a, b, options);
                     }
                 });
    return out;
}

void Tokenizer::encode_ids(std::string_view text, std::vector<TokenId>& ids,
                           bool add_special_tokens) const {
    if (!state_->ids_suffice(add_special_tokens)) {
        const Encoding e = encode(text, {.add_special_tokens = add_special_tokens});
        ids.insert(ids.end(), e.ids.begin(), e.ids.end());
        return;
    }
    const State::Borrowed work(*state_);
    state_->ids(text, ids, add_special_tokens, *work);
}

std::vector<TokenId> Tokenizer::encode_ids(std::string_view text, bool add_special_tokens) const {
    std::vector<TokenId> ids;
    encode_ids(text, ids, add_special_tokens);
    return ids;
}

std::vector<std::vector<TokenId>> Tokenizer::encode_ids_batch(std::span<const std::string> texts,
                                                              bool add_special_tokens) const {
    std::vector<std::vector<TokenId>> out(texts.size());
    parallel_for(static_cast<std::int64_t>(texts.size()), batch_grain,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i)
                         encode_ids(texts[static_cast<std::size_t>(i)],
                                    out[static_cast<std::size_t>(i)], add_special_tokens);
                 });
    return out;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
    const text::Pipeline& p = state_->pipeline;
    if (p.spm()) {
        std::vector<std::string_view> pieces;
        for (const TokenId id : ids) {
            const std::string_view t = p.token(id);
            if (t.data() && !(skip_special && p.is_special(t))) pieces.push_back(t);
        }
        return p.spm()->decode(pieces);
    }
    std::vector<std::string> tokens;
    tokens.reserve(ids.size());
    for (const TokenId id : ids) {
        const std::string_view t = p.token(id);
        if (t.data() && !(skip_special && p.is_special(t))) tokens.emplace_back(t);
    }
    return state_->decoder.decode(std::move(tokens));
}

std::int64_t Tokenizer::vocab_size() const { return state_->pipeline.end_id(); }

std::optional<TokenId> Tokenizer::token_to_id(std::string_view token) const {
    const TokenId id = state_->pipeline.find(token);
    return id >= 0 ? std::optional(id) : std::nullopt;
}

std::optional<std::string> Tokenizer::id_to_token(TokenId id) const {
    const std::string_view t = state_->pipeline.token(id);
    return t.data() ? std::optional(std::string(t)) : std::nullopt;
}

bool Tokenizer::is_special(TokenId id) const {
    const std::string_view t = state_->pipeline.token(id);
    return t.data() && state_->pipeline.is_special(t);
}

std::int64_t Tokenizer::special_tokens_added(bool pair) const {
    return state_->post_processor.tokens_added(pair);
}

std::optional<TokenId> Tokenizer::bos_id() const { return state_->role(state_->roles.bos); }
std::optional<TokenId> Tokenizer::eos_id() const { return state_->role(state_->roles.eos); }
std::optional<TokenId> Tokenizer::unk_id() const { return state_->role(state_->roles.unk); }
std::optional<TokenId> Tokenizer::sep_id() const { return state_->role(state_->roles.sep); }
std::optional<TokenId> Tokenizer::pad_id() const { return state_->role(state_->roles.pad); }
std::optional<TokenId> Tokenizer::cls_id() const { return state_->role(state_->roles.cls); }
std::optional<TokenId> Tokenizer::mask_id() const { return state_->role(state_->roles.mask); }

const TokenizerSpec& Tokenizer::spec() const { return state_->pipeline.spec(); }

}  // namespace fovea
