#include "fovea/tasks/paint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/files.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/language_model_stepper.h"
#include "fovea/metrics/signature.h"
#include "fovea/models/gpt2.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_painter = 0x7061696e;  // its stream of random numbers

std::shared_ptr<const TextEncoder> make_painter(const PaintModel& m, const Params& p) {
    return std::make_shared<const TextEncoder>(
        Gpt2::make(m.folder.config, m.folder.config_path(), {Head::words, 0}, p));
}

void check_painter(const PaintModel& m) {
    const std::string where = m.folder.config_path();
    const TextEncoder& n = *m.network;
    const auto tokens = grey_levels + static_cast<int>(m.folder.labels.size());
    expect_input(n.vocabulary == tokens, where, ": \"vocab_size\" is ", n.vocabulary, ", but ",
                 grey_levels, " grey levels and ", m.folder.labels.size(), " labels are ", tokens);
    expect_input(m.input.channels() == 1 && n.max_length == m.pixels(), where,
                 ": \"n_positions\" is ", n.max_length, ", but a grey picture of ", m.input.width,
                 " × ", m.input.height, " has ", m.pixels(), " pixels");
}

// Waves of `at` of growing length, the shortest `least` long.
void put_waves(float* to, std::int64_t count, double at, double least, double longest) {
    const std::int64_t last = (count - 1) / 2;  // waves come in pairs of sine and cosine
    for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t pair = j / 2;
        const double part = last > 0 ? static_cast<double>(pair) / static_cast<double>(last) : 0;
        const double wave = least * std::pow(longest / least, part);
        const double angle = 2 * 3.141592653589793 * at / wave;
        to[j] = static_cast<float>(j % 2 ? std::cos(angle) : std::sin(angle));
    }
}

// Grey levels are an order and pixels lie in a plane, which tables of random rows would have to
// find out first. They begin as waves: neighbouring levels alike, and a place as its row and column
// (as in Vaswani et al. 2017, §3.5, and for two dimensions Parmar et al. 2018). All is learned on.
void begin_in_order(PaintModel& m) {
    const double scale = m.folder.config.value("initializer_range", 0.02) * std::sqrt(2.0);
    Tensor levels = m.store->at("transformer.wte.weight");
    Tensor places = m.store->at("transformer.wpe.weight");
    const std::int64_t d = levels.cols();
    for (std::int64_t v = 0; v < grey_levels; ++v)
        put_waves(levels.write() + v * d, d, static_cast<double>(v), 8, 1024);
    for (std::int64_t t = 0; t < places.rows(); ++t) {
        float* row = places.write() + t * d;
        const std::int64_t wide = m.input.width, line = t / wide;
        put_waves(row, d / 2, static_cast<double>(line), 3, 4.0 * m.input.height);
        put_waves(row + d / 2, d - d / 2, static_cast<double>(t % wide), 3, 4.0 * m.input.width);
    }
    const auto shrink = [&](float* from, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) from[i] *= static_cast<float>(scale);
    };
    shrink(levels.write(), grey_levels * d);
    shrink(places.write(), places.rows() * d);
}

// The class and the rows that are given, in front of what is drawn.
DecodeRequest decode_request(const PaintModel& model, const PaintRequest& r) {
    DecodeRequest d;
    d.prompt = {grey_levels + static_cast<std::int32_t>(r.label)};
    if (r.begun)
        d.prompt.insert(d.prompt.end(), r.begun->pixels.begin(),
                        r.begun->pixels.begin() +
                            static_cast<std::ptrdiff_t>(r.given_rows) * model.input.width);
    d.limit = model.pixels() + 1 - static_cast<std::int64_t>(d.prompt.size());
    d.sample_id = r.number;
    return d;
}

}  // namespace

PaintModel PaintModel::create(const PaintChoice& c, std::vector<std::string> labels,
                              std::uint64_t seed) {
    PaintModel m;
    m.folder.task = "paint";
    m.input.height = c.picture_height;
    m.input.width = c.picture_width;
    m.input.mean = m.input.deviation = {0.5};
    m.folder.preprocessor = m.input.to_json();
    EncoderChoice choice;
    choice.layers = c.layers;
    choice.width = c.width;
    choice.heads = c.heads;
    choice.ffn = c.ffn;
    choice.dropout = c.dropout;
    choice.vocabulary = grey_levels + static_cast<int>(labels.size());
    choice.max_length = static_cast<int>(m.pixels());
    choice.end_token = choice.pad_token = -1;  // a picture ends with its last pixel
    m.folder.config = Gpt2::new_config(choice);
    m.folder.config["model_type"] = model_type;
    m.folder.config["attention"] = name_of(parse_attention(c.attention, "--attention"));
    m.folder.labels = std::move(labels);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_painter);
    m.network = make_painter(m, Params(*m.store, rng));
    begin_in_order(m);
    check_painter(m);
    return m;
}

PaintModel PaintModel::open(ModelFolder folder, const WeightChoice& weights) {
    PaintModel m;
    m.folder = std::move(folder);
    m.folder.task = "paint";
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = join_path(m.folder.path, "preprocessor_config.json");
    expect_input(!m.folder.preprocessor.empty(), where,
                 ": there is no such file, which says how large pictures are");
    m.input = PictureInput::of_json(m.folder.preprocessor, where);
    m.store =
        m.folder.load(Gpt2::rules(), weights.format, [&](const Params& p) { make_painter(m, p); });
    Rng unused;
    m.network = make_painter(m, Params(*m.store, unused));
    check_painter(m);
    return m;
}

void PaintModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, Gpt2::rules(), overwrite);
}

void save_painter(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                  bool overwrite) {
    model.save(out, trained, Gpt2::rules(), overwrite);
}

std::size_t PaintModel::class_of(const std::string& label) const {
    const auto found = std::find(folder.labels.begin(), folder.labels.end(), label);
    if (found != folder.labels.end())
        return static_cast<std::size_t>(found - folder.labels.begin());
    std::string known;
    for (const std::string& l : folder.labels) known += (known.empty() ? "" : ", ") + l;
    fail_with(ErrorKind::usage, "its classes are " + known, "the model has no class \"", label,
              "\"");
}

Picture PaintModel::read(const PictureReader& reader, std::span<const std::string> names) const {
    if (names.size() != 1)
        fail_with(ErrorKind::bad_input,
                  "clips and pictures of several channels are for --task image",
                  "paint: ", names[0], " and ", names.size() - 1,
                  " more are one record, but a record is one picture");
    return input.fitted(reader.read(names, 1));
}

Ids PaintModel::tokens(const Picture& fitted, std::size_t label) const {
    expect(static_cast<std::int64_t>(fitted.pixels.size()) == pixels(), "paint: a picture of ",
           fitted.pixels.size(), " pixels, but the model has ", pixels());
    Ids ids{grey_levels + static_cast<std::int32_t>(label)};
    ids.insert(ids.end(), fitted.pixels.begin(), fitted.pixels.end() - 1);
    return ids;
}

std::vector<double> nats_of_pictures(const PaintModel& model, std::span<const Picture> fitted,
                                     std::span<const std::size_t> labels,
                                     const PredictControl& control) {
    expect(fitted.size() == labels.size(), "paint: ", labels.size(), " labels for ", fitted.size(),
           " pictures");
    constexpr std::size_t together = 8;
    const PrecisionScope scope(model.precision);
    const auto pixels = static_cast<std::size_t>(model.pixels());
    std::vector<double> nats;
    for (std::size_t from = 0; from < fitted.size(); from += together) {
        if (control.stop && control.stop->load()) break;
        const std::size_t end = std::min(from + together, fitted.size());
        std::vector<Ids> read;
        Ids told;
        for (std::size_t i = from; i < end; ++i) {
            read.push_back(model.tokens(fitted[i], labels[i]));
            told.insert(told.end(), fitted[i].pixels.begin(), fitted[i].pixels.end());
        }
        const Tensor losses = cross_entropy(model.network->words(model.network->rows(pack(read))),
                                            told, {.reduction = Reduction::none});
        for (std::size_t i = 0; i < end - from; ++i) {
            const auto own = losses.span().subspan(i * pixels, pixels);
            nats.push_back(std::accumulate(own.begin(), own.end(), 0.0));
        }
        if (control.progress)
            control.progress(static_cast<std::int64_t>(end),
                             static_cast<std::int64_t>(fitted.size()));
    }
    return nats;
}

MetricScore bits_per_dim(const PaintModel& model, std::span<const double> nats,
                         std::span<const std::size_t> labels) {
    expect(!nats.empty() && nats.size() <= labels.size(), "bits per pixel of no picture");
    const auto pixels = static_cast<double>(model.pixels());
    const auto bits = [&](double sum, double pictures) {
        return sum / (pictures * pixels) / std::log(2.0);
    };
    std::vector<double> sums(model.folder.labels.size()), counts(sums.size());
    for (std::size_t i = 0; i < nats.size(); ++i) {
        sums[labels[i]] += nats[i];
        ++counts[labels[i]];
    }
    const double all = std::accumulate(nats.begin(), nats.end(), 0.0);
    MetricScore s;
    s.name = "bits_per_dim";
    s.value = bits(all, static_cast<double>(nats.size()));
    s.higher_is_better = false;
    s.signature = text_of("pixels:", model.input.width, "x", model.input.height, "x", grey_levels,
                          "|given:class|mean:pixels|", signature_version);
    s.figures = {{"bits_per_dim", s.value}, {"loss", s.value * std::log(2.0)}};
    for (std::size_t c = 0; c < sums.size(); ++c)
        if (counts[c] > 0) s.figures["classes"][model.folder.labels[c]] = bits(sums[c], counts[c]);
    return s;
}

std::vector<Picture> paint(const PaintModel& model, std::span<const PaintRequest> requests,
                           const SearchOptions& given, std::size_t batch,
                           const PredictControl& control) {
    expect(batch > 0, "paint: batches of nothing");
    SearchOptions search_options = given;
    search_options.sample = true;
    search_options.beam = search_options.n_best = 1;
    for (std::size_t c = 0; c < model.folder.labels.size(); ++c)  // classes are no grey levels
        search_options.banned.push_back(grey_levels + static_cast<std::int32_t>(c));
    search_options.check();
    const PrecisionScope scope(model.precision);
    std::vector<Picture> out(requests.size());
    for (std::size_t from = 0; from < requests.size(); from += batch) {
        const std::size_t end = std::min(from + batch, requests.size());
        std::vector<DecodeRequest> wanted;
        std::vector<std::size_t> which;
        for (std::size_t i = from; i < end; ++i) {
            if (requests[i].begun && requests[i].given_rows >= model.input.height) {
                out[i] = *requests[i].begun;  // nothing is left to paint
                continue;
            }
            which.push_back(i);
            wanted.push_back(decode_request(model, requests[i]));
        }
        LanguageModelStepper stepper(*model.network, {});
        std::vector<std::vector<Hypothesis>> found;
        if (!wanted.empty())
            found = search(stepper, search_options, wanted, {.stop = control.stop});
        if (control.stop && control.stop->load()) break;
        for (std::size_t k = 0; k < which.size(); ++k) {
            Picture& p = out[which[k]] =
                blank_picture(model.input.height, model.input.width, 1, "paint");
            const auto at =
                std::copy(wanted[k].prompt.begin() + 1, wanted[k].prompt.end(), p.pixels.begin());
            std::copy(found[k][0].tokens.begin(), found[k][0].tokens.end(), at);
        }
        if (control.progress)
            control.progress(static_cast<std::int64_t>(end),
                             static_cast<std::int64_t>(requests.size()));
    }
    return out;
}

double independent_bits(std::span<const Picture> known, std::span<const Picture> told) {
    expect(!known.empty() && !told.empty(), "independent pixels: no pictures");
    const std::size_t pixels = known[0].pixels.size();
    double bits = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
        std::int64_t counts[grey_levels] = {};
        for (const Picture& p : known) ++counts[p.pixels[i]];
        const double all = static_cast<double>(known.size()) + grey_levels;
        for (const Picture& p : told)
            bits -= std::log2((static_cast<double>(counts[p.pixels[i]]) + 1) / all);
    }
    return bits / (static_cast<double>(told.size()) * static_cast<double>(pixels));
}

}  // namespace fovea
