#include "fovea/bench/verify.h"

#include <algorithm>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/threads.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/bench/training_work.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/transformer_stepper.h"
#include "fovea/io/hash.h"
#include "fovea/kernels/isa.h"
#include "fovea/train/loop.h"

namespace fovea::bench {
namespace {

using kernels::Isa;

// Large enough that work is split between threads and tiles are not all ragged, small enough for
// the scalar level.
TransformerConfig verify_config() {
    TransformerConfig c;
    c.vocab_size = 300;
    c.d_model = 64;
    c.encoder_layers = c.decoder_layers = 2;
    c.encoder_attention_heads = c.decoder_attention_heads = 4;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 144;
    c.dropout = 0.1f;
    return c;
}

constexpr std::int64_t updates = 6, verify_batch_tokens = 160;
constexpr std::uint64_t verify_seed = 20170612;  // the day of Vaswani et al.

// The same pairs for everybody: integers drawn from the seed.
const Seq2SeqExamples& pairs() {
    static const Seq2SeqExamples all =
        random_pairs({.count = 48, .vocabulary = 300, .seed = verify_seed});
    return all;
}

TrainTask task_of(FreshTransformer& model, std::optional<BatchPlan>& plan) {
    TrainTask t;
    t.store = model.store.get();
    t.fingerprint = {{"verify", 1}};
    t.begin_epoch = [&plan](std::int64_t epoch) {
        plan.emplace(pairs().lengths,
                     BatchOptions{.max_tokens = verify_batch_tokens, .seed = verify_seed}, epoch);
        return plan->batches();
    };
    t.batch_weight = [&plan](std::int64_t b) {
        return static_cast<std::int64_t>((*plan)[b].size());
    };
    t.loss = [&model, &plan](std::int64_t i) {
        const Seq2SeqBatch b =
            pack_batch(pairs(), (*plan)[i], model.network->config.decoder_start_token_id);
        return model.network->loss(b.source, b.source_segments, b.input, b.labels,
                                   b.target_segments, {.smoothing = 0.1f});
    };
    t.save_model = [](const std::string&) {};
    return t;
}

// A trained model: in one go, or in two sittings with a checkpoint between.
FreshTransformer trained(Precision precision, bool in_two_sittings) {
    const PrecisionScope scope(precision);
    const ScratchFolder folder;
    TrainOptions o;
    o.out = folder / "run";
    o.seed = verify_seed;
    o.schedule = {.kind = ScheduleKind::constant, .peak = 2e-3, .warmup = 2};
    const auto sitting = [&](std::int64_t steps, bool resume) {
        FreshTransformer model(verify_config(), verify_seed);
        std::optional<BatchPlan> plan;
        const TrainTask task = task_of(model, plan);
        o.steps = o.save_every = steps;
        o.resume = resume;
        train(task, settled(task, o), {});
        return model;
    };
    if (in_two_sittings) sitting(updates / 2, false);
    return sitting(updates, in_two_sittings);
}

void add(Hash128& hash, const Tensor& t) { hash.add(t.data(), t.size() * 4); }

std::string hash_of_parameters(const FreshTransformer& m) {
    Hash128 h;
    for (const std::string& name : m.store->names()) {
        h.add(name);
        add(h, m.store->at(name));
    }
    return h.hex();
}

// The model with its matrices rounded, for inference.
FreshTransformer stored_as(const FreshTransformer& from, Format format) {
    FreshTransformer m(verify_config(), verify_seed);
    for (const std::string& name : from.store->names()) {
        const Tensor& t = from.store->at(name);
        m.store->replace(name, t.shape().rank() == 2 && t.rows() > 1 ? t.to(format) : t);
    }
    m.store->set_mode(ParameterStore::Mode::load);
    Rng unused;
    m.network = std::make_unique<Transformer>(verify_config(), Params(*m.store, unused));
    return m;
}

// Logits of teacher forcing, and what beam search finds, for some of the sources.
std::string hash_of_answers(const Transformer& model, std::span<const std::int64_t> chosen) {
    const Seq2SeqBatch b = pack_batch(pairs(), chosen, model.config.decoder_start_token_id);
    Hash128 h;
    add(h,
        model.logits(model.decoder(b.input, b.target_segments,
                                   model.encode(b.source, b.source_segments), b.source_segments)));
    TransformerStepper stepper(model, b.source, b.source_segments);
    const std::vector<DecodeRequest> requests(chosen.size(), DecodeRequest{.limit = 12});
    for (const auto& list : search(stepper, {.beam = 3}, requests))
        for (const Hypothesis& hypothesis : list) {
            h.add(hypothesis.tokens.data(),
                  static_cast<std::int64_t>(hypothesis.tokens.size() * 4));
            h.add(hypothesis.token_scores.data(),
                  static_cast<std::int64_t>(hypothesis.token_scores.size() * 4));
        }
    return h.hex();
}

const std::vector<std::int64_t> some = {0, 5, 9, 17, 23, 31};

bool same_bits(const float* a, const float* b, std::int64_t n) {
    return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(float)) == 0;
}

Tensor forced_logits(const Transformer& m, std::span<const std::int64_t> chosen) {
    const Seq2SeqBatch b = pack_batch(pairs(), chosen, m.config.decoder_start_token_id);
    return m.logits(m.decoder(b.input, b.target_segments, m.encode(b.source, b.source_segments),
                              b.source_segments));
}

bool batch_is_alone(const Transformer& m) {
    const Tensor all = forced_logits(m, some);
    std::int64_t row = 0;
    for (const std::int64_t i : some) {
        const std::int64_t one[] = {i};
        const Tensor alone = forced_logits(m, one);
        if (!same_bits(alone.data(), all.data() + row * all.cols(), alone.size())) return false;
        row += alone.rows();
    }
    return row == all.rows();
}

bool cached_is_full(const Transformer& m) {
    const std::int64_t one[] = {some[1]};
    const Seq2SeqBatch b = pack_batch(pairs(), one, m.config.decoder_start_token_id);
    const Tensor full = forced_logits(m, one);
    TransformerStepper stepper(m, b.source, b.source_segments);
    const Ids prompts[] = {{b.input[0]}};
    Tensor next = stepper.start(prompts);
    const std::int64_t parent[] = {0};
    for (std::int64_t r = 0;; ++r) {
        if (!same_bits(next.data(), full.data() + r * full.cols(), full.cols())) return false;
        if (r + 1 == full.rows()) return true;
        next = stepper.step({b.input[static_cast<std::size_t>(r) + 1]}, parent);
    }
}

class Verifier {
public:
    explicit Verifier(const std::function<void(const VerifyCheck&)>& on_check)
        : on_check_(on_check), level_(kernels::active_isa()), threads_(thread_count()) {
        for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::amx})
            if (isa <= kernels::best_isa()) levels_.push_back(isa);
        counts_ = {1, 2, 3, std::max(8, threads_)};
    }
    ~Verifier() { restore(); }
    Verifier(const Verifier&) = delete;
    Verifier& operator=(const Verifier&) = delete;

    VerifyReport run() {
        const Stopwatch clock;
        Hash128 all;
        for (const Precision p : {Precision::f32, Precision::bf16}) {
            const FreshTransformer model = trained(p, false);
            check_training(p, model, all);
            const PrecisionScope scope(p);
            check_answers(name_of(p),
                          stored_as(model, p == Precision::bf16 ? Format::bf16 : Format::f32), all);
            if (p == Precision::f32)
                for (const Format whole : {Format::int8, Format::int7})
                    check_answers(name_of(whole), stored_as(model, whole), all);
        }
        report_.hash = all.hex();
        report_.seconds = clock.seconds();
        return std::move(report_);
    }

private:
    void restore() {
        set_thread_count(threads_);
        kernels::set_isa(level_);
    }

    void tell(const std::string& precision, const char* what, const std::string& how, bool holds) {
        report_.checks.push_back({precision, what, how, holds});
        if (on_check_) on_check_(report_.checks.back());
    }

    // Does `result` stay the same with other thread counts, and at other levels?
    void check_everywhere(const std::string& precision, const char* of, const std::string& expected,
                          const std::function<std::string()>& result) {
        bool threads_hold = true, levels_hold = true;
        std::string counts, levels;
        for (const int n : counts_) {
            set_thread_count(n);
            threads_hold = threads_hold && result() == expected;
            counts += text_of(counts.empty() ? "" : ", ", n);
        }
        restore();
        for (const Isa isa : levels_) {
            kernels::set_isa(isa);
            levels_hold = levels_hold && result() == expected;
            levels += text_of(levels.empty() ? "" : ", ", kernels::name_of(isa));
        }
        restore();
        tell(precision, "threads", text_of(of, " with ", counts), threads_hold);
        tell(precision, "levels", text_of(of, " at ", levels), levels_hold);
    }

    void check_training(Precision p, const FreshTransformer& model, Hash128& all) {
        const std::string expected = hash_of_parameters(model);
        all.add(expected);
        check_everywhere(name_of(p), "training", expected,
                         [p] { return hash_of_parameters(trained(p, false)); });
        tell(name_of(p), "resume",
             text_of(updates / 2, " + ", updates / 2, " updates as ", updates),
             hash_of_parameters(trained(p, true)) == expected);
    }

    void check_answers(const std::string& precision, const FreshTransformer& model, Hash128& all) {
        const Transformer& m = *model.network;
        const std::string expected = hash_of_answers(m, some);
        all.add(expected);
        check_everywhere(precision, "search", expected, [&] { return hash_of_answers(m, some); });
        tell(precision, "batch", "six sentences together and alone", batch_is_alone(m));
        tell(precision, "cached", "token by token and in one go", cached_is_full(m));
    }

    const std::function<void(const VerifyCheck&)>& on_check_;
    Isa level_;
    int threads_;
    std::vector<Isa> levels_;
    std::vector<int> counts_;
    VerifyReport report_;
};

}  // namespace

bool VerifyReport::holds() const {
    return std::all_of(checks.begin(), checks.end(), [](const VerifyCheck& c) { return c.holds; });
}

VerifyReport verify(const std::function<void(const VerifyCheck&)>& on_check) {
    return Verifier(on_check).run();
}

}  // namespace fovea::bench
