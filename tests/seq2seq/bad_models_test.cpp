// A hundred ways a model folder, a run or a data file can be broken, through the loaders that the
// commands use: each is one error that names the file, on one line. Some go through the program.
// (Broken safetensors, checkpoints and data files alone: fovea/io and fovea/data.)
#include <functional>

#include "fovea/io/safetensors.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/text/train/vocabulary_recipe.h"
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

const std::string& good_model() {
    static const std::string path = [] {
        std::vector<std::string> texts;
        for (const TextPair& p : written_dates({.count = 50})) texts.push_back(p.source);
        auto tokenizer = std::make_shared<const Tokenizer>(
            train_vocabulary(texts, {.kind = VocabularyKind::characters}));
        TransformerConfig c;
        c.vocab_size = static_cast<int>(tokenizer->vocab_size());
        c.d_model = 8;
        c.encoder_layers = c.decoder_layers = 1;
        c.encoder_attention_heads = c.decoder_attention_heads = 2;
        c.encoder_ffn_dim = c.decoder_ffn_dim = 8;
        const Seq2SeqModel m = Seq2SeqModel::create(c, tokenizer, tokenizer, 1);
        const std::string to = folder() + "/good";
        m.save(to);
        return to;
    }();
    return path;
}

using Break = std::function<void(const std::string& folder)>;

struct BadModel {
    std::string name;
    Break damage;
    std::string says;  // part of the message
};

Break in_json(const std::string& file, const std::string& key, const std::string& value) {
    return [=](const std::string& f) {
        Json j = read_json(f + "/" + file);
        if (value.empty())
            j.erase(key);
        else
            j[key] = parse_json(value, "test");
        write_file_atomically(f + "/" + file, to_text(j));
    };
}
Break with_text(const std::string& file, const std::string& text) {
    return [=](const std::string& f) { write_file_atomically(f + "/" + file, text); };
}
Break cut(const std::string& file, double share) {
    return [=](const std::string& f) {
        const std::string bytes = read_file(f + "/" + file);
        write_file_atomically(
            f + "/" + file,
            bytes.substr(0, static_cast<std::size_t>(share * static_cast<double>(bytes.size()))));
    };
}
Break without(const std::string& file) {
    return [=](const std::string& f) { fs::remove(f + "/" + file); };
}
// The weights written anew, with a change to each tensor's name or shape (an empty name: left out).
Break in_weights(const std::function<void(std::string& name, Tensor& t)>& change) {
    return [=](const std::string& f) {
        const std::string path = f + "/model.safetensors";
        std::vector<TensorToWrite> out;
        {
            const TensorFile file(path);
            for (const TensorInfo& info : file.tensors()) {
                std::string name = info.name;
                Tensor t = file.read(info);
                change(name, t);
                if (!name.empty()) out.push_back(TensorToWrite::of(name, t));
            }
        }
        fs::remove(path);
        write_safetensors(path, out);
    };
}

std::vector<BadModel> bad_models() {
    std::vector<BadModel> all;
    const auto add = [&](const std::string& name, Break b, const std::string& says) {
        all.push_back({name, std::move(b), says});
    };
    // config.json
    const char* c = "config.json";
    add("config missing", without(c), c);
    add("config empty", with_text(c, ""), c);
    add("config cut", cut(c, 0.5), c);
    add("config not JSON", with_text(c, "model_type: marian\n"), c);
    add("config a list", with_text(c, "[1, 2]"), c);
    add("config a number", with_text(c, "7"), c);
    add("config null", with_text(c, "null"), c);
    add("config not UTF-8", with_text(c, "{\"model_type\": \"\xff\xfe\"}"), c);
    add("config twice a key", with_text(c, R"({"d_model": 8, "d_model": 9})"), c);
    add("config too deep", with_text(c, std::string(5000, '[')), c);
    for (const char* key : {"d_model", "encoder_layers", "decoder_layers", "encoder_ffn_dim",
                            "decoder_ffn_dim", "encoder_attention_heads", "decoder_attention_heads",
                            "vocab_size", "max_position_embeddings"}) {
        for (const char* value : {"0", "-1", "\"8\"", "8.5", "99999999999999999999"})
            add(std::string(key) + " is " + value, in_json(c, key, value), key);
    }
    add("heads do not divide", in_json(c, "encoder_attention_heads", "3"), "3 heads");
    add("another width", in_json(c, "d_model", "16"), "model.shared.weight");
    add("another vocabulary", in_json(c, "vocab_size", "5"), "one vocabulary");
    add("one layer too many", in_json(c, "encoder_layers", "2"), "layers.1");
    add("one layer too few", in_json(c, "decoder_layers", "512"), "layers.1");
    add("another ffn", in_json(c, "decoder_ffn_dim", "9"), "fc1");
    for (const char* key : {"dropout", "attention_dropout", "activation_dropout"})
        for (const char* value : {"-0.1", "1.5", "\"0\"", "true"})
            add(std::string(key) + " is " + value, in_json(c, key, value), key);
    add("unknown activation", in_json(c, "activation_function", "\"magic\""), "magic");
    add("activation a number", in_json(c, "activation_function", "1"), "activation_function");
    add("another model type", in_json(c, "model_type", "\"bert\""), "bert");
    add("model type a list", in_json(c, "model_type", "[]"), "model_type");
    add("eos outside", in_json(c, "eos_token_id", "100000"), "100000");
    add("start outside", in_json(c, "decoder_start_token_id", "100000"), "100000");
    add("eos a text", in_json(c, "eos_token_id", "\"</s>\""), "eos_token_id");
    add("scale a number", in_json(c, "scale_embedding", "1"), "scale_embedding");
    add("unshared with one table", in_json(c, "share_encoder_decoder_embeddings", "false"),
        "embed_tokens");
    // generation_config.json and fovea.json
    const char* g = "generation_config.json";
    add("generation cut", cut(g, 0.6), g);
    add("no beams", in_json(g, "num_beams", "0"), "num_beams");
    add("too many beams", in_json(g, "num_beams", "100000"), "num_beams");
    add("no length", in_json(g, "max_length", "0"), "max_length");
    add("a penalty of text", in_json(g, "length_penalty", "\"x\""), "length_penalty");
    add("unknown penalty", in_json(g, "length_penalty_kind", "\"magic\""), "magic");
    add("fovea.json cut", cut("fovea.json", 0.5), "fovea.json");
    add("task a number", in_json("fovea.json", "task", "3"), "task");
    add("no source length", in_json("fovea.json", "max_source_length", "0"), "max_source_length");
    // tokenizer.json
    const char* t = "tokenizer.json";
    add("no tokenizer", without(t), "tokenizer");
    add("tokenizer empty", with_text(t, ""), t);
    add("tokenizer cut", cut(t, 0.7), t);
    add("tokenizer a list", with_text(t, "[]"), t);
    add("no model in it", in_json(t, "model", ""), t);
    add("unknown kind of model", in_json(t, "model", R"({"type": "Magic"})"), t);
    add("unknown normaliser", in_json(t, "normalizer", R"({"type": "Magic"})"), t);
    add("unknown decoder", in_json(t, "decoder", R"({"type": "Magic"})"), t);
    add("added tokens per text", in_json(t, "added_tokens", "\"x\""), t);
    // model.safetensors
    const char* w = "model.safetensors";
    add("no weights", without(w), "safetensors");
    add("weights empty", with_text(w, ""), w);
    for (const double share : {0.01, 0.3, 0.9, 0.999})
        add("weights cut at " + std::to_string(share), cut(w, share), w);
    add("weights are text", with_text(w, std::string(4096, 'x')), w);
    add("a tensor is missing", in_weights([](std::string& name, Tensor&) {
            if (name == "model.encoder.layers.0.fc1.weight") name.clear();
        }),
        "model.encoder.layers.0.fc1.weight");
    add("a tensor has another name", in_weights([](std::string& name, Tensor&) {
            if (name == "model.decoder.layers.0.encoder_attn.q_proj.bias") name += "es";
        }),
        "q_proj.biases");
    add("a tensor has another shape", in_weights([](std::string& name, Tensor& x) {
            if (name == "model.decoder.layers.0.fc2.bias") x = Tensor::zeros({9});
        }),
        "fc2.bias");
    add("a matrix lies on its side", in_weights([](std::string& name, Tensor& x) {
            if (name == "model.shared.weight") x = Tensor::zeros({x.cols(), x.rows()});
        }),
        "model.shared.weight");
    add(
        "a tensor too many",
        [](const std::string& f) {
            in_weights([](std::string& name, Tensor&) {
                if (name == "model.decoder.layers.0.fc2.bias") name = "stranger.weight";
            })(f);
        },
        "stranger.weight");
    return all;
}

TEST(BadModels, EachIsOneClearError) {
    const std::string broken = folder() + "/broken";
    const std::vector<BadModel> all = bad_models();
    EXPECT_GE(all.size(), 100u);
    Seq2SeqModel::load(good_model());  // the one they are made of is whole
    for (const BadModel& bad : all) {
        fs::remove_all(broken);
        fs::copy(good_model(), broken);
        bad.damage(broken);
        try {
            Seq2SeqModel::load(broken);
            ADD_FAILURE() << bad.name << ": was accepted";
        } catch (const Error& e) {
            const std::string what = e.what();
            EXPECT_NE(what.find(bad.says), std::string::npos) << bad.name << ": " << what;
            EXPECT_NE(what.find(broken), std::string::npos) << bad.name << ": " << what;
            EXPECT_TRUE(e.kind() == ErrorKind::bad_input || e.kind() == ErrorKind::not_found)
                << bad.name << ": " << what;
        }
    }
}

// Every ninth of them through the program: the right exit code, nothing on standard output, and one
// error on standard error.
TEST(BadModels, TheProgramSaysTheSame) {
    const std::string broken = folder() + "/broken";
    const std::vector<BadModel> all = bad_models();
    for (std::size_t i = 0; i < all.size(); i += 9) {
        fs::remove_all(broken);
        fs::copy(good_model(), broken);
        all[i].damage(broken);
        const Ran r = fovea("translate " + broken, "5 May 1999\n");
        EXPECT_TRUE(r.code == 3 || r.code == 4) << all[i].name << ": " << r.code << "\n" << r.err;
        EXPECT_TRUE(r.out.empty()) << all[i].name << ": " << r.out;
        EXPECT_EQ(r.err.find("error: "), 0u) << all[i].name << ": " << r.err;
        EXPECT_EQ(r.err.find("error: ", 1), std::string::npos) << all[i].name << ": " << r.err;
        EXPECT_NE(r.err.find(all[i].says), std::string::npos) << all[i].name << ": " << r.err;
    }
}

// A run whose newest checkpoint is damaged goes on from the one before; with none left whole it
// does not quietly begin anew.
TEST(BadModels, ADamagedCheckpointIsPassedOverAloudAndNeverReplacedInSilence) {
    const std::string run = folder() + "/damaged";
    ASSERT_EQ(fovea(train_flags("damaged", 12)).code, 0);
    ASSERT_EQ(fovea(train_flags("undamaged", 20)).code, 0);
    const auto spoil = [&](const std::string& step) {
        const std::string path = run + "/" + step + "/model.safetensors";
        std::string bytes = read_file(path);
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
        write_file_atomically(path, bytes);
    };
    spoil("step-0000000012");
    const Ran on = fovea(train_flags("damaged", 20) + " --resume");
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find("passed over"), std::string::npos) << on.err;
    EXPECT_NE(on.err.find("step-0000000010"), std::string::npos) << on.err;
    EXPECT_TRUE(weights("damaged") == weights("undamaged"));  // the same bits all the same
    for (const std::string& name : list_folder(run))
        if (name.rfind("step-", 0) == 0) spoil(name);
    const Ran none = fovea(train_flags("damaged", 30) + " --resume");
    EXPECT_NE(none.code, 0) << none.err;
    EXPECT_NE(none.err.find("error:"), std::string::npos) << none.err;
    EXPECT_TRUE(none.out.empty());
}

// Data files broken in ways only a whole run meets.
TEST(BadModels, TheTrainerRefusesBadData) {
    struct Case {
        std::string name, text, more, says;
        int code;
    };
    const std::string rest = " --out " + folder() + "/never --steps 2",
                      fresh = " --preset tiny --vocab characters";
    for (const Case& c : std::vector<Case>{
             {"empty.tsv", "", "", "holds no pair", 3},
             {"one_column.tsv", "a\n", "", ":1: 1 column", 3},
             {"latin.tsv", "caf\xe9\tx\n", "", "UTF-8", 3},
             {"long.tsv", std::string(3000, 'x') + "\ty\n", "", "no pair is left", 3},
             {"bad.jsonl", "{\"source\": \"a\"\n", "", ":1: ", 3},
             {"keys.jsonl", "{\"a\": \"1\", \"b\": \"2\", \"c\": \"3\"}\n", "", "--source-key", 3},
             {"cut.tsv.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K", 11), "",
              "cut.tsv.gz", 3},
             {"what.xyz", "a\tb\n", "", "cannot tell what kind", 2},
             {"fine.tsv", "a\tb\n", " --dev " + folder() + "/missing.tsv", "missing.tsv", 4},
             {"fine2.tsv", "a\tb\n", " --tokenizer " + folder() + "/missing.json", "missing.json",
              4},
             {"fine3.tsv", "a\tb\n", " --from " + folder() + "/missing", "missing", 4},
             {"fine4.tsv", "a\tb\n", " --positions rotary --heads 128", "rotary", 2},
             {"fine5.tsv", "a\tb\n", " --heads 3", "--heads 3", 2},
             {"fine6.tsv", "a\tb\n", " --max-relative 0", "--max-relative", 2}}) {
        const std::string path = folder() + "/" + c.name;
        write_file_atomically(path, c.text);
        const Ran r = fovea("train --train " + path + rest + c.more +
                            (c.code == 4 && c.name != "fine.tsv" ? "" : fresh));
        EXPECT_EQ(r.code, c.code) << c.name << ": " << r.err;
        EXPECT_NE(r.err.find("error: "), std::string::npos) << c.name << ": " << r.err;
        EXPECT_NE(r.err.find(c.says), std::string::npos) << c.name << ": " << r.err;
        EXPECT_TRUE(r.out.empty()) << r.out;
    }
}

}  // namespace
}  // namespace fovea
