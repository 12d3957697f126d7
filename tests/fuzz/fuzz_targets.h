#pragma once
// One function a target: any bytes in. A fovea::Error is a fine answer and is caught inside; a
// property that does not hold is thrown as BrokenProperty, and anything worse is for the
// sanitizers.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fovea/text/tokenizer.h"

namespace fovea {

using FuzzBytes = std::span<const std::uint8_t>;

// A tokenizer.json, the byte 0xFF, and a text for it.
void fuzz_tokenizer_json(FuzzBytes data);
// A selector, then a vocab.txt; or a vocab.json, 0xFF, a merges.txt; each followed by 0xFF, a text.
void fuzz_vocab_files(FuzzBytes data);
// Two bytes n, a .model of n bytes, a text.
void fuzz_sentencepiece_model(FuzzBytes data);
// A text for the hand-written scanners and UTF-8 functions, against slow ones.
void fuzz_scanners(FuzzBytes data);
// A selector for a tokenizer, then ids: streamed text = decoded text.
void fuzz_stream_decoder(FuzzBytes data);
// Two bytes n, a safetensors header of n bytes, the tensors' bytes.
void fuzz_safetensors(FuzzBytes data);
// A selector, then a state.json, a manifest without its checksum, or a config.json.
void fuzz_saved_state(FuzzBytes data);
// A selector, then an e-mail, a TSV, CSV, JSONL or gzipped file.
void fuzz_data_files(FuzzBytes data);
// A byte, then a file of questions: SQuAD's JSON or JSON lines.
void fuzz_questions(FuzzBytes data);
// A selector of options, a hypothesis, 0xFF, a reference.
void fuzz_metric_texts(FuzzBytes data);
// A head, then a config.json: of a text encoder, or of an encoder-decoder.
void fuzz_model_config(FuzzBytes data);
// A model.safetensors.index.json.
void fuzz_weight_index(FuzzBytes data);
// A file of word vectors: text, word2vec's or fastText's.
void fuzz_word_vectors(FuzzBytes data);
// A selector, then a generation_config.json; or a tokenizer_config.json, a special_tokens_map.json,
// an added_tokens.json, a config.json and a text, with 0xFF between them.
void fuzz_tokenizer_config(FuzzBytes data);
// A WAV file; a FLAC file.
void fuzz_wav(FuzzBytes data);
void fuzz_flac(FuzzBytes data);

// A picture.
void fuzz_png(FuzzBytes data);
void fuzz_jpeg(FuzzBytes data);
// Boxes of pictures: PASCAL VOC's XML, COCO's JSON.
void fuzz_voc(FuzzBytes data);
void fuzz_coco(FuzzBytes data);

struct BrokenProperty : std::logic_error {
    using std::logic_error::logic_error;
};
inline void property(bool holds, const char* what) {
    if (!holds) throw BrokenProperty(what);
}

inline std::string_view text_of_bytes(FuzzBytes data) {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace fovea
