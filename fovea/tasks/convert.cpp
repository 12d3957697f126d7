#include "fovea/tasks/convert.h"

#include <filesystem>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/model_weights.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/vectors.h"

namespace fovea {
namespace {

struct NumberFormat {
    const char* name;
    DType type;
};
constexpr NumberFormat formats[] = {
    {"f32", DType::F32}, {"bf16", DType::BF16}, {"f16", DType::F16}, {"int8", DType::I8}};

std::string word_for(DType type) {
    for (const NumberFormat& f : formats)
        if (f.type == type) return f.name;
    return "f32";  // doubles are read, but not written
}

// The type that most numbers of the weights have.
DType main_type(const ModelWeights& weights) {
    std::map<DType, std::int64_t> counts;
    for (const std::string& name : weights.names())
        counts[weights.info(name).dtype] += weights.info(name).elements();
    DType most = DType::F32;
    for (const auto& [type, count] : counts)
        if (count > counts[most]) most = type;
    return most;
}

DType wanted_type(const std::string& word, DType before) {
    for (const NumberFormat& f : formats)
        if (word == f.name) return f.type;
    if (word != "same")
        throw Error("convert: there is no format `" + word + "`", ErrorKind::usage,
                    "known are same, f32, bf16, f16, int8");
    return wanted_type(word_for(before), before);
}

// The spellings of a published model, old ones included; our own layouts need none.
std::span<const NameRule> rules_of(const Json& config) {
    for (const TextEncoderEntry& e : text_encoders())
        if (model_type_of(config) == e.model_type) return e.rules();
    return {};
}

}  // namespace

namespace {

bool ends_as_vectors(const std::string& path) {
    return path.ends_with(".vec") || path.ends_with(".txt") || path.ends_with(".bin");
}

Converted convert_vectors(const std::string& path, const std::string& out,
                          const ConvertOptions& options) {
    if (options.dtype != "same")
        fail_with(ErrorKind::usage, "leave --dtype out",
                  "convert: files of word vectors have f32 numbers, not ", options.dtype);
    const WordVectorModel model = WordVectorModel::load(path);
    Converted c{.task = "vectors", .from = "f32", .to = "f32"};
    c.parameters = model.store->count();
    c.bytes_before = is_folder(path) ? 4 * c.parameters : file_size(path);
    if (!ends_as_vectors(out)) {
        model.save(out, options.overwrite);
        c.bytes_after = 4 * c.parameters;
        return c;
    }
    if (!options.overwrite && file_exists(out))
        throw Error(out + ": is there already", ErrorKind::usage, "--force overwrites it");
    const WordVectorFormat format = !out.ends_with(".bin")         ? WordVectorFormat::text
                                    : options.layout == "word2vec" ? WordVectorFormat::word2vec
                                                                   : WordVectorFormat::fasttext;
    write_word_vectors(out, model.file(format), format);
    c.bytes_after = file_size(out);
    return c;
}

}  // namespace

std::vector<std::string> convert_dtypes() {
    std::vector<std::string> names{"same"};
    for (const NumberFormat& f : formats) names.emplace_back(f.name);
    return names;
}

Converted convert_model(const std::string& path, const std::string& out,
                        const ConvertOptions& options) {
    const bool from_file = file_exists(path) && !is_folder(path);
    if (from_file || ends_as_vectors(out)) return convert_vectors(path, out, options);
    ModelFolder folder = ModelFolder::open(path);
    if (folder.task.empty()) folder.task = task_of_config(folder);
    const TaskEntry* task = find_task(folder.task);
    if (!task || !task->predictor)
        throw Error(folder.path + ": nothing here says what the model is for", ErrorKind::bad_input,
                    "config.json names the model (model_type, architectures), fovea.json the task");
    std::error_code none;
    if (std::filesystem::equivalent(folder.path, out, none))
        throw Error(out + ": is the model itself", ErrorKind::usage,
                    "give another folder to --out");

    const ModelWeights weights(folder.path);
    const DType before = main_type(weights);
    folder.stored = wanted_type(options.dtype, before);
    const std::unique_ptr<Predictor> model = task->predictor();
    Settings settings;
    model->describe(settings);
    // int8 stays as it is: its values read and rounded again would find other scales.
    const bool keeps_int8 = before == DType::I8 && folder.stored == DType::I8;
    model->open({folder}, {.format = keeps_int8 ? Format::int8 : Format::f32});
    folder.save(out, model->parameters(), rules_of(folder.config), options.overwrite);
    return {.task = folder.task,
            .from = word_for(before),
            .to = word_for(folder.stored),
            .parameters = model->parameters().count(),
            .bytes_before = weights.bytes(),
            .bytes_after = ModelWeights(out).bytes()};
}

}  // namespace fovea
