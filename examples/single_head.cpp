// The smallest classifier with attention, written out: three words, two classes, a token for each
// character, vectors of 5, one self-attention of 10 columns, AdamW. It learns all three by heart.
//   example_single_head
#include <cstdio>
#include <string>
#include <vector>

#include "fovea/fovea.h"

int main() {
    const std::vector<std::string> words = {"correct", "salute", "incorrect"};
    const std::vector<std::string> labels = {"good", "neutral"};
    const fovea::Ids wanted = {0, 1, 1};

    fovea::ModelFolder folder;
    folder.labels = labels;
    folder.tokenizer = folder.target_tokenizer = std::make_shared<const fovea::Tokenizer>(
        fovea::train_vocabulary(words, {.kind = fovea::VocabularyKind::characters}));
    fovea::EncoderChoice sizes{.width = 5, .hidden = 10, .dropout = 0.0f};
    sizes.vocabulary = static_cast<int>(folder.tokenizer->vocab_size());
    folder.config = fovea::text_encoder_named("single-head").new_config(sizes);
    const fovea::ClassifyModel model =
        fovea::ClassifyModel::create(std::move(folder), fovea::Pool::mean, 1);

    std::vector<fovea::EncodedText> encoded;
    for (const std::string& word : words) encoded.push_back(model.encode({word}));
    const fovea::TokenBatch batch = fovea::pack_texts(encoded, std::vector<std::int64_t>{0, 1, 2});

    fovea::AdamW adam(*model.store, {.weight_decay = 0.01f});
    for (int epoch = 1; epoch <= 200; ++epoch) {
        fovea::Tape tape;
        const fovea::Tensor loss = fovea::cross_entropy(model.network->logits(batch), wanted);
        adam.step(tape.gradients(loss), 0.01f);
        if (epoch % 50 == 0) std::printf("epoch %d: loss %.4f\n", epoch, loss.item());
    }

    int right = 0;
    const std::vector<fovea::TextLabel> answers = fovea::classify(model, words);
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::printf("%s: %s\n", words[i].c_str(), answers[i].label.c_str());
        right += answers[i].label == labels[static_cast<std::size_t>(wanted[i])];
    }
    std::printf("%d of 3\n", right);
    return right == 3 ? 0 : 1;
}
