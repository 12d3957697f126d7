// Trains a tiny Transformer on a file of tab-separated pairs:  example_train pairs.tsv run
#include <cstdio>
#include <exception>

#include "fovea/tasks/seq2seq_train.h"

int main(int argc, char** argv) try {
    if (argc != 3) return std::fputs("usage: example_train pairs.tsv run\n", stderr), 2;
    fovea::Seq2SeqTraining training;
    training.train = fovea::pair_files_of(argv[1]);
    training.config.apply_preset("tiny");
    training.vocabulary.size = 400;
    training.run.out = argv[2];
    training.run.steps = 50;
    fovea::Seq2SeqTrainer trainer(training, [](const std::string& s) { std::puts(s.c_str()); });
    std::printf("last loss %.3f\n", trainer.run({}).last_loss);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
