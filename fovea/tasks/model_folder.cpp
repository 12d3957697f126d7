#include "fovea/tasks/model_folder.h"

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/base/threads.h"
#include "fovea/data/sequence_frame.h"
#include "fovea/io/model_parameters.h"

namespace fovea {
namespace {

void write_json(const std::string& folder, const char* name, const Json& j) {
    write_file_atomically(join_path(folder, name), to_text(j, 2) + "\n");
}

// Matrices in the wanted format; vectors and tables that must stay exact remain f32.
void convert_weights(ParameterStore& store, Format format, const ParameterStore& checked) {
    std::vector<std::string> names = store.names();
    std::erase_if(names, [&](const std::string& name) {
        const Tensor& t = store.at(name);
        return t.format() == format || t.shape().rank() != 2 || t.rows() == 1 ||
               checked.is_exact(name);
    });
    std::vector<Tensor> converted(names.size());
    parallel_for(static_cast<std::int64_t>(names.size()), 1, [&](std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        converted[at] = store.at(names[at]).to(Format::f32).to(format);
    });
    for (std::size_t i = 0; i < names.size(); ++i) store.replace(names[i], converted[i]);
}

// config.json's id2label: {"0": "negative", "1": "positive"}, every number from 0 once.
std::vector<std::string> labels_of(const Json& config, const std::string& where) {
    if (!config.contains("id2label")) return {};
    const Json& map = config["id2label"];
    expect_input(map.is_object(), where, ": \"id2label\" is not an object");
    std::vector<std::string> labels(map.size());
    std::vector<bool> seen(map.size(), false);
    for (const auto& [id, label] : map.items()) {
        char* end = nullptr;
        const unsigned long i = std::strtoul(id.c_str(), &end, 10);
        expect_input(
            *end == '\0' && !id.empty() && i < labels.size() && !seen[i] && label.is_string(),
            where, ": \"id2label\" must name every class from 0 to ", labels.size() - 1,
            " once, but has \"", id, "\"");
        labels[i] = label.get<std::string>();
        seen[i] = true;
    }
    return labels;
}

void check_version(const Json& about, const std::string& where) {
    JsonFields f(about, where);
    int version = ModelFolder::version;
    f.read("version", version, {1});
    if (version > ModelFolder::version)
        throw Error(text_of(where, ": the folder has version ", version,
                            ", but this program reads up to ", ModelFolder::version),
                    ErrorKind::bad_input, "it was written by a later Fovea: update this one");
}

// The tensors of a model that is being trained, without its head: what one task learns, the other
// one has.
std::shared_ptr<ParameterStore> shared_body(const TextEncoderEntry& entry, const Json& config,
                                            const ParameterStore& trained,
                                            const std::function<void(const Params&)>& build,
                                            ModelFolder::NewHead& report) {
    ParameterStore shapes(ParameterStore::Mode::check);
    Rng unused;
    entry.make(config, "config", {}, Params(shapes, unused));
    auto store = std::make_shared<ParameterStore>();
    ParameterStore checked(ParameterStore::Mode::check);
    for (const std::string& name : shapes.missing_names()) {
        store->put(name, trained.at(name));
        checked.put(name, trained.at(name));
    }
    build(Params(checked, unused));
    report.made = checked.missing_names();
    return store;
}

const char* torch_name_of(DType t) {  // of config.json
    return t == DType::BF16 ? "bfloat16" : t == DType::F16 ? "float16" : "float32";
}

Json tokenizer_config(const Tokenizer& t, bool generates) {
    Json j;
    j["tokenizer_class"] = "PreTrainedTokenizerFast";
    const auto name = [&](const char* key, std::optional<TokenId> id) {
        if (id) j[key] = t.id_to_token(*id).value_or("");
    };
    name("bos_token", t.bos_id());
    name("eos_token", t.eos_id());
    name("unk_token", t.unk_id());
    name("pad_token", t.pad_id());
    name("cls_token", t.cls_id());
    name("sep_token", t.sep_id());
    name("mask_token", t.mask_id());
    // Versions of transformers differ in what a tokenizer hands out unless told: BERT needs the
    // types of two texts, and GPT-2 would add them to its input.
    if (t.cls_id() || generates)
        j["model_input_names"] = pair_frame(t).has_types()
                                     ? Json{"input_ids", "token_type_ids", "attention_mask"}
                                     : Json{"input_ids", "attention_mask"};
    return j;
}

}  // namespace

std::string find_model_folder(const std::string& path) {
    const auto has_model = [](const std::string& p) {
        return file_exists(join_path(p, "config.json"));
    };
    if (!is_folder(path)) {
        if (file_exists(path))
            throw Error(path + ": is a file, but a model is a folder", ErrorKind::usage,
                        "give the folder that holds config.json and model.safetensors");
        throw Error(
            path + ": there is no such model folder", ErrorKind::not_found,
            "a model is a folder with config.json and model.safetensors, such as RUN/model");
    }
    if (has_model(path)) return path;
    if (const std::string inner = join_path(path, "model"); has_model(inner)) return inner;
    const std::string run = parent_path(path), beside = join_path(run, "model");
    if (file_exists(join_path(path, "MANIFEST.json")))
        throw Error(
            path + ": is a checkpoint, not a model", ErrorKind::usage,
            has_model(beside)
                ? "give " + beside + ", or make a model of checkpoints: fovea average " + run
                : "make a model of it: fovea average " + run + " --last 1 --out MODEL");
    if (file_exists(join_path(path, "metrics.jsonl")))
        throw Error(path + ": is a run that has saved no model yet", ErrorKind::not_found,
                    "let it end (fovea train --out " + path + " --resume), or fovea average " +
                        path + " --last 1 --out MODEL");
    throw Error(join_path(path, "config.json") + ": cannot open: there is no such file",
                ErrorKind::not_found,
                "a model is a folder with config.json and model.safetensors, such as RUN/model");
}

std::string task_of_folder(const std::string& path) {
    try {
        const std::string about = join_path(find_model_folder(path), "fovea.json");
        if (!file_exists(about)) return "";
        const Json j = read_json(about);
        return j.is_object() ? j.value("task", std::string()) : "";
    } catch (const std::exception&) {
        return "";  // whoever opens the folder says what is wrong with it
    }
}

std::string ModelFolder::config_path() const { return join_path(path, "config.json"); }

ModelFolder ModelFolder::open(const std::string& given) {
    ModelFolder m;
    m.path = find_model_folder(given);
    m.config = read_json(m.config_path());
    expect_input(m.config.is_object(), m.config_path(), ": is not a JSON object");
    m.labels = labels_of(m.config, m.config_path());
    const std::string generation = join_path(m.path, "generation_config.json");
    m.generation = file_exists(generation) ? read_json(generation) : m.config;
    if (const std::string about = join_path(m.path, "fovea.json"); file_exists(about)) {
        m.about = read_json(about);
        check_version(m.about, about);
        JsonFields(m.about, about).read("task", m.task);
    }
    if (const std::string p = join_path(m.path, "preprocessor_config.json"); file_exists(p)) {
        m.preprocessor = read_json(p);
        expect_input(m.preprocessor.is_object(), p, ": is not a JSON object");
    }
    // Models of pictures and sounds may have no tokens.
    if ((!m.preprocessor.empty() || m.config.contains("num_channels")) &&
        !file_exists(join_path(m.path, "tokenizer.json")))
        return m;
    m.tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(m.path));
    const std::string target = join_path(m.path, "target_tokenizer.json");
    m.target_tokenizer = file_exists(target)
                             ? std::make_shared<const Tokenizer>(Tokenizer::load(target))
                             : m.tokenizer;
    return m;
}

std::shared_ptr<ParameterStore> ModelFolder::load(
    std::span<const NameRule> rules, Format format,
    const std::function<void(const Params&)>& build) const {
    const ModelWeights weights(path);
    ParameterStore checked = shapes_of(weights, rules);
    Rng unused;
    build(Params(checked, unused));
    checked.finish(path);
    auto store = std::make_shared<ParameterStore>(ParameterStore::Mode::load);
    load_parameters(weights, rules, *store, &checked);
    convert_weights(*store, format, checked);
    return store;
}

std::shared_ptr<ParameterStore> ModelFolder::load_body(
    const TextEncoderEntry& entry, std::span<const std::string> own,
    const std::function<void(const Params&)>& build, NewHead& report) const {
    if (in_training) return shared_body(entry, config, *in_training, build, report);
    const ModelWeights weights(path);
    const auto model_rules = entry.rules();
    std::vector<NameRule> rules(model_rules.begin(), model_rules.end());
    std::vector<std::string> heads(own.begin(), own.end());
    for (const std::string& pattern : own) rules.push_back({.on_disk = pattern});
    // A head's tensors are left even where the new head has some of the same name and shape: those
    // of another task mean something else.
    for (const HeadParameters& h : entry.heads) {
        heads.emplace_back(h.pattern);
        if (!h.shared) rules.push_back({.on_disk = std::string(h.pattern)});
    }
    ParameterStore checked = shapes_of(weights, rules);
    for (const std::string& pattern : heads) checked.allow_new(pattern);
    Rng unused;
    build(Params(checked, unused));
    checked.finish(path);
    auto store = std::make_shared<ParameterStore>(ParameterStore::Mode::load);
    load_parameters(weights, rules, *store, &checked);
    convert_weights(*store, Format::f32, checked);  // of an int8 folder
    store->set_mode(ParameterStore::Mode::create);
    report.made = checked.missing_names();
    for (const std::string& name : weights.names())
        for (const std::string& pattern : heads)
            if (std::vector<std::string> captures;
                matches_pattern(pattern, name, captures) && !store->has(name)) {
                report.left.push_back(name);
                break;
            }
    return store;
}

void ModelFolder::save_tokenizers(const std::string& folder) const {
    tokenizer->save(join_path(folder, "tokenizer.json"));
    if (target_tokenizer && target_tokenizer != tokenizer)
        target_tokenizer->save(join_path(folder, "target_tokenizer.json"));
    Json t = tokenizer_config(*tokenizer, task == "generate");
    if (about.contains("max_source_length")) t["model_max_length"] = about["max_source_length"];
    write_json(folder, "tokenizer_config.json", t);
}

void ModelFolder::save(const std::string& folder, const ParameterStore& store,
                       std::span<const NameRule> rules, bool overwrite) const {
    if (!overwrite && file_exists(join_path(folder, "config.json")))
        throw Error(folder + ": holds a model already", ErrorKind::usage, "--force overwrites it");
    make_folders(folder);
    save_parameters(join_path(folder, "model.safetensors"), store, rules, {.dtype = stored});
    Json c = config;
    c.erase("torch_dtype");  // the old spelling
    c["dtype"] = torch_name_of(stored);
    if (!labels.empty()) {
        c["id2label"] = c["label2id"] = Json::object();
        for (std::size_t i = 0; i < labels.size(); ++i) {
            c["id2label"][std::to_string(i)] = labels[i];
            c["label2id"][labels[i]] = i;
        }
    }
    write_json(folder, "config.json", c);
    if (!generation.empty()) write_json(folder, "generation_config.json", generation);
    if (!preprocessor.empty()) write_json(folder, "preprocessor_config.json", preprocessor);
    if (tokenizer) save_tokenizers(folder);
    Json j = about;
    j["schema"] = "fovea.model";
    j["version"] = version;
    j["task"] = task;
    j.erase("weights");
    if (stored == DType::I8) j["weights"] = "int8";
    write_json(folder, "fovea.json", j);
}

}  // namespace fovea
