// Every mechanism against its equations in double, forward and gradient of every parameter.
#include "fovea/models/rnn_attention.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

constexpr int width = 6, heads = 2, head = width / heads;
const Segments sources = Segments::of_lengths({7, 3}), rows = Segments::of_lengths({4, 2});

using In = std::vector<Doubles>;

struct Named {
    std::string name;
    Shape shape;
};

// The parameters a choice has, in the order of the inputs below: q, memory, then these.
std::vector<Named> parameters_of(const RnnAttentionChoice& c) {
    std::vector<Named> p;
    const auto linear_layer = [&](const std::string& name, int out) {
        p.push_back({name + ".weight", {out, width}});
        p.push_back({name + ".bias", {out}});
    };
    if (c.score == SourceScore::general || c.score == SourceScore::additive)
        linear_layer("q_proj", width);
    if (c.score == SourceScore::additive || c.score == SourceScore::two_term)
        linear_layer("k_proj", width);
    if (c.score == SourceScore::two_term) {
        linear_layer("v_proj", width);
        p.push_back({"a", {1, 1}});
        p.push_back({"b", {1, 1}});
    }
    if (c.score == SourceScore::additive) p.push_back({"score_vector", {width}});
    if (c.view == SourceView::local_p) {
        linear_layer("centre", width);
        p.push_back({"centre_vector", {heads, width}});
    }
    if (c.view == SourceView::hybrid && !c.global_weight) linear_layer("gate", heads);
    return p;
}

// One mechanism in double.
class Naive {
public:
    Naive(const RnnAttentionChoice& choice, const In& in) : c_(choice), in_(in) {
        const std::vector<Named> names = parameters_of(choice);
        for (std::size_t i = 0; i < names.size(); ++i) parameters_[names[i].name] = &in[i + 2];
        keys_ = score_is(SourceScore::additive) || score_is(SourceScore::two_term)
                    ? layer("k_proj", in[1])
                    : in[1];
        values_ = in[1];
        if (score_is(SourceScore::two_term)) {
            values_ = layer("v_proj", in[1]);
            const double a = (*parameters_["a"])[0], b = (*parameters_["b"])[0];
            for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = a * keys_[i] + b * values_[i];
        }
        queries_ = score_is(SourceScore::general) || score_is(SourceScore::additive)
                       ? layer("q_proj", in[0])
                       : in[0];
    }

    Doubles operator()() {
        Doubles y(in_[0].size());
        for (std::int64_t s = 0; s < sources.count(); ++s)
            for (std::int64_t r = rows.begin(s); r < rows.end(s); ++r)
                for (int h = 0; h < heads; ++h) context(s, r, h, y.data() + r * width + h * head);
        return y;
    }

private:
    bool score_is(SourceScore s) const { return c_.score == s; }
    static double sigma(double x) { return 1 / (1 + std::exp(-x)); }

    Doubles layer(const std::string& name, const Doubles& x) {
        const Doubles &w = *parameters_[name + ".weight"], &b = *parameters_[name + ".bias"];
        Doubles y;
        for (std::size_t r = 0; r < x.size() / width; ++r)
            for (std::size_t o = 0; o < b.size(); ++o) {
                double sum = b[o];
                for (std::size_t k = 0; k < width; ++k) sum += w[o * width + k] * x[r * width + k];
                y.push_back(sum);
            }
        return y;
    }

    struct Key {  // of the head: its columns
        Doubles k, v;
        double place;
    };

    Key key(std::int64_t s, std::int64_t first, std::int64_t last, int h) const {
        Key mean{Doubles(head), Doubles(head), static_cast<double>(first)};
        const auto n = static_cast<double>(last - first);
        for (std::int64_t j = first; j < last; ++j)
            for (std::size_t e = 0; e < head; ++e) {
                const auto at =
                    static_cast<std::size_t>((sources.begin(s) + j) * width + h * head) + e;
                mean.k[e] += keys_[at] / n;
                mean.v[e] += values_[at] / n;
            }
        return mean;
    }

    double score(std::int64_t r, int h, const Key& key) {
        double s = 0;
        for (std::size_t e = 0; e < head; ++e) {
            const std::size_t at = static_cast<std::size_t>(h * head) + e;
            const double q = queries_[static_cast<std::size_t>(r * width) + at];
            s += score_is(SourceScore::additive)
                     ? (*parameters_["score_vector"])[at] * std::tanh(q + key.k[e])
                     : q * key.k[e];
        }
        const bool scaled = score_is(SourceScore::scaled) || score_is(SourceScore::two_term);
        return scaled ? s / std::sqrt(static_cast<double>(head)) : s;
    }

    Doubles mix(std::int64_t r, int h, const std::vector<Key>& keys, double centre = -1) {
        Doubles weights, y(head);
        double sum = 0;
        for (const Key& k : keys) weights.push_back(std::exp(score(r, h, k)));
        for (const double w : weights) sum += w;
        for (std::size_t j = 0; j < keys.size(); ++j) {
            double w = weights[j] / sum;
            const double sigma_p = c_.window / 2.0, d = keys[j].place - centre;
            if (centre >= 0) w *= std::exp(-d * d / (2 * sigma_p * sigma_p));
            for (std::size_t e = 0; e < head; ++e) y[e] += w * keys[j].v[e];
        }
        return y;
    }

    std::vector<Key> between(std::int64_t s, int h, double from, double to) const {
        std::vector<Key> keys;
        for (std::int64_t j = 0; j < sources.length(s); ++j)
            if (static_cast<double>(j) >= from && static_cast<double>(j) <= to)
                keys.push_back(key(s, j, j + 1, h));
        return keys;
    }

    std::vector<Key> expanded(std::int64_t s, int h, std::int64_t p) const {
        const std::int64_t n = sources.length(s);
        std::vector<Key> keys =
            between(s, h, static_cast<double>(p - c_.window), static_cast<double>(p + c_.window));
        std::int64_t right = p + c_.window + 1, left = p - c_.window - 1, size = c_.window;
        for (int level = 0; level < c_.summaries; ++level, size *= 2) {
            if (right < n) {
                const std::int64_t first = right / size * size;
                keys.push_back(key(s, first, std::min(n, first + size), h));
                right = first + size;
            }
            if (left >= 0) {
                const std::int64_t first = left / size * size;
                keys.push_back(key(s, first, std::min(n, first + size), h));
                left = first - 1;
            }
        }
        return keys;
    }

    void context(std::int64_t s, std::int64_t r, int h, double* to) {
        const std::int64_t n = sources.length(s), p = std::min(r - rows.begin(s), n - 1);
        const auto near = [&] {
            return between(s, h, static_cast<double>(p - c_.window),
                           static_cast<double>(p + c_.window));
        };
        Doubles y;
        if (c_.view == SourceView::window) {
            y = mix(r, h, near());
        } else if (c_.view == SourceView::expanded) {
            y = mix(r, h, expanded(s, h, p));
        } else if (c_.view == SourceView::local_p) {
            Doubles hidden = layer("centre", in_[0]);
            double logit = 0;
            for (std::size_t e = 0; e < width; ++e)
                logit += (*parameters_["centre_vector"])[static_cast<std::size_t>(h) * width + e] *
                         std::tanh(hidden[static_cast<std::size_t>(r) * width + e]);
            const double centre = static_cast<double>(n) * sigma(logit);
            y = mix(r, h, between(s, h, centre - c_.window, centre + c_.window), centre);
        } else {
            y = mix(r, h, between(s, h, 0, 1e9));
        }
        if (c_.view == SourceView::hybrid) {
            const double g =
                c_.global_weight
                    ? *c_.global_weight
                    : sigma(layer("gate", in_[0])[static_cast<std::size_t>(r * heads + h)]);
            const Doubles local = mix(r, h, near());
            for (std::size_t e = 0; e < head; ++e) y[e] = g * y[e] + (1 - g) * local[e];
        }
        std::copy(y.begin(), y.end(), to);
    }

    const RnnAttentionChoice& c_;
    const In& in_;
    std::map<std::string, const Doubles*> parameters_;
    Doubles keys_, values_, queries_;
};

Tensor run(const RnnAttentionChoice& c, const std::vector<Tensor>& in) {
    ParameterStore store(ParameterStore::Mode::load);
    const std::vector<Named> names = parameters_of(c);
    for (std::size_t i = 0; i < names.size(); ++i) store.put("a." + names[i].name, in[i + 2]);
    Rng unused;
    const RnnAttention attention(c, width, heads, Params(store, unused) / "a");
    store.finish("test");
    return attention(in[0], AskingRows::all(rows), attention.prepare(in[1], sources));
}

TEST(RnnAttention, EveryMechanismAndScore) {
    for (const char* view : {"global", "window:1", "window:2", "local-p:2", "expanded:1,2",
                             "hybrid:1", "hybrid:2,0.25"})
        for (const char* score : {"dot", "scaled", "general", "additive", "two-term"}) {
            if (std::string(view) == "local-p:2" && std::string(score) == "additive") continue;
            SCOPED_TRACE(text_of(view, " ", score));
            const RnnAttentionChoice c = RnnAttentionChoice::parse(view, score);
            EXPECT_EQ(c.attention_name(), view);
            EXPECT_EQ(c.score_name(), score);
            Rng rng(7);
            std::vector<Tensor> in{random_tensor({rows.total(), width}, rng),
                                   random_tensor({sources.total(), width}, rng)};
            for (const Named& p : parameters_of(c)) in.push_back(random_tensor(p.shape, rng, 0.5));
            check_op({.inputs = in,
                      .op = [&](const std::vector<Tensor>& x) { return run(c, x); },
                      .reference = [&](const In& v) { return Naive(c, v)(); },
                      // A bias on keys moves all scores alike: its gradient is 0, and what is
                      // computed is rounding.
                      .gradient_tolerance = c.score == SourceScore::two_term ? 1e-3 : 1e-4,
                      .max_checked = 30});
        }
}

// Without a tape the heaviest position alone; with one, the estimator's gradient reaches q.
TEST(RnnAttention, HardTakesOnePosition) {
    const RnnAttentionChoice c = RnnAttentionChoice::parse("hard", "dot");
    Rng rng(8);
    const Tensor q = random_tensor({rows.total(), width}, rng),
                 memory = random_tensor({sources.total(), width}, rng);
    const Tensor y = run(c, {q, memory});
    for (std::int64_t r = 0; r < rows.total(); ++r)
        for (int h = 0; h < heads; ++h) {
            bool found = false;
            for (std::int64_t j = 0; j < sources.total() && !found; ++j)
                found = std::equal(y.data() + r * width + h * head,
                                   y.data() + r * width + (h + 1) * head,
                                   memory.data() + j * width + h * head);
            EXPECT_TRUE(found) << r << " " << h;
        }
    Tape tape;
    const Tensor watched = tape.watch(Tensor::of(q.shape(), q.span()));
    const Tensor again = run(c, {watched, memory});
    const Tensor dq = tape.gradients(again, Tensor::full(again.shape(), 1.0f))[watched];
    double norm = 0;
    for (const float g : dq.span()) norm += std::fabs(g);
    EXPECT_GT(norm, 0);
}

TEST(RnnAttention, BadWishesAreOneUsageErrorEach) {
    struct Wish {
        const char *attention, *score, *says;
    };
    for (const Wish& w :
         {Wish{"window:0", "dot", "the window is \"0\" but must be a number from 1"},
          Wish{"window", "dot", "takes its numbers behind a colon"},
          Wish{"window:2,3", "dot", "takes its numbers"},
          Wish{"expanded:2", "dot", "takes its numbers"},
          Wish{"expanded:2,0", "dot", "the number of means is \"0\""},
          Wish{"global:2", "dot", "takes no numbers"},
          Wish{"hybrid:2,1.5", "dot", "must be from 0 to 1"},
          Wish{"local-p:x", "dot", "the window is \"x\""},
          Wish{"nearby", "dot", "there is no mechanism \"nearby\""},
          Wish{"", "dot", "there is no mechanism \"\""},
          Wish{"global", "cosine", "there is no score \"cosine\""},
          Wish{"local-p:2", "additive", "--score additive has none"}}) {
        try {
            RnnAttentionChoice::parse(w.attention, w.score);
            ADD_FAILURE() << w.attention << " " << w.score;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(e.what()).find(w.says), std::string::npos) << e.what();
            EXPECT_FALSE(e.hint().empty());
        }
    }
}

}  // namespace
}  // namespace fovea
