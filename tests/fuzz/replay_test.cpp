// Every stored input of every fuzz target, in a normal test run: what was once found stays found.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fuzz_targets.h"

namespace fovea {
namespace {

struct Target {
    const char* name;
    void (*run)(FuzzBytes);
};

class StoredInputs : public testing::TestWithParam<Target> {};

TEST_P(StoredInputs, DoNoHarm) {
    const std::string folder =
        std::string(FOVEA_SOURCE_DIR) + "/tests/corpus/" + GetParam().name + "/";
    const auto names = list_folder(folder);
    EXPECT_GE(names.size(), 5u) << folder;
    for (const std::string& name : names) {
        SCOPED_TRACE(name);
        const std::string bytes = read_file(folder + name);
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        EXPECT_NO_THROW(GetParam().run(FuzzBytes(data, bytes.size())));
    }
}

TEST_P(StoredInputs, EmptyAndTinyInputsDoNoHarm) {
    EXPECT_NO_THROW(GetParam().run({}));
    for (int a = 0; a < 256; ++a) {
        const std::uint8_t two[] = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(a * 7)};
        EXPECT_NO_THROW(GetParam().run(FuzzBytes(two, 1)));
        EXPECT_NO_THROW(GetParam().run(FuzzBytes(two, 2)));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, StoredInputs,
    testing::Values(
        Target{"tokenizer_json", fuzz_tokenizer_json}, Target{"vocab_files", fuzz_vocab_files},
        Target{"sentencepiece_model", fuzz_sentencepiece_model}, Target{"scanners", fuzz_scanners},
        Target{"stream_decoder", fuzz_stream_decoder}, Target{"safetensors", fuzz_safetensors},
        Target{"saved_state", fuzz_saved_state}, Target{"data_files", fuzz_data_files},
        Target{"questions", fuzz_questions}, Target{"metric_texts", fuzz_metric_texts},
        Target{"model_config", fuzz_model_config}, Target{"weight_index", fuzz_weight_index},
        Target{"wav", fuzz_wav}, Target{"flac", fuzz_flac},
        Target{"word_vectors", fuzz_word_vectors},
        Target{"tokenizer_config", fuzz_tokenizer_config}, Target{"png", fuzz_png},
        Target{"jpeg", fuzz_jpeg}, Target{"voc", fuzz_voc}, Target{"coco", fuzz_coco}),
    [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace fovea
