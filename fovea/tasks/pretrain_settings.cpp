#include "fovea/tasks/pretrain_settings.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tasks/run_settings.h"

namespace fovea {
namespace {

const std::vector<ModelHabit>& habits() {
    static const std::vector<ModelHabit> all = {
        {"bert",
         "wordpiece",
         "bert-cased",
         Objective::masked_and_next,
         {Objective::masked, Objective::masked_and_next, Objective::translated,
          Objective::masked_and_translated},
         true},
        {"roberta", "bpe", "roberta", Objective::masked, {Objective::masked}},
        {"gpt2", "bpe", "gpt2", Objective::causal, {Objective::causal}},
        {"xlnet",
         "unigram",
         "xlnet",
         Objective::permuted,
         {Objective::permuted, Objective::causal}},
    };
    return all;
}

constexpr Objective objectives[] = {Objective::masked,     Objective::masked_and_next,
                                    Objective::causal,     Objective::permuted,
                                    Objective::translated, Objective::masked_and_translated};

void describe_vocabulary(PretrainSettings& p, Settings& s) {
    s.add("vocab", p.vocabulary, "kind of vocabulary to train; auto: the model's habit",
          {.group = "vocabulary",
           .choices = {"auto", "wordpiece", "bpe", "unigram", "words", "characters"}});
    s.add("vocab-size", p.vocabulary_size, "tokens of the vocabulary",
          {.group = "vocabulary", .min = 8, .max = 1 << 24});
    s.add("lowercase", p.lowercase, "a vocabulary of lower-cased text", {.group = "vocabulary"});
    s.add("tokenizer", p.tokenizer, "a tokenizer to use instead",
          {.group = "vocabulary", .is_path = true});
}

void describe_masks(PretrainSettings& p, Settings& s) {
    s.add("mask-share", p.masking.share, "share of the tokens that are to be told",
          {.group = "data", .min = 1e-3, .max = 1, .below_max = true});
    s.add("whole-words", p.masking.whole_words, "hide all pieces of a word, or none",
          {.group = "data"});
    s.add("masks", p.masks, "drawn anew in each epoch, or fixed",
          {.group = "data", .choices = {"anew", "fixed"}});
}

}  // namespace

const char* name_of(Objective objective) {
    switch (objective) {
        case Objective::masked:
            return "mlm";
        case Objective::masked_and_next:
            return "mlm-nsp";
        case Objective::causal:
            return "causal";
        case Objective::permuted:
            return "permutation";
        case Objective::translated:
            return "tlm";
        case Objective::masked_and_translated:
            return "mlm-tlm";
    }
    return "?";
}

Objective objective_named(const std::string& name) {
    for (const Objective o : objectives)
        if (name == name_of(o)) return o;
    return Objective::masked;
}

const ModelHabit& habit_of(const std::string& model) {
    std::string known;
    for (const ModelHabit& h : habits()) {
        if (model == h.model) return h;
        known += std::string(known.empty() ? "" : ", ") + h.model;
    }
    fail_with(ErrorKind::usage, "those that are: " + known, "pretrain: the model `", model,
              "` is not one to pretrain");
}

std::vector<std::string> pretrained_models() {
    std::vector<std::string> names;
    for (const ModelHabit& h : habits()) names.emplace_back(h.model);
    return names;
}

void PretrainSettings::describe(Settings& s) {
    s.add("model", model, "what is pretrained",
          {.group = "model", .common = true, .choices = pretrained_models()});
    std::vector<std::string> choices{"auto"};
    for (const Objective o : objectives) choices.emplace_back(name_of(o));
    s.add("objective", objective, "what it learns to tell; auto: the model's habit",
          {.group = "model", .common = true, .choices = choices});
    s.add("context", context, "tokens of a sequence, special ones too",
          {.group = "data",
           .common = true,
           .min = 8,
           .max = 1 << 20,
           .otherwise = "128, or what the model takes"});
    std::vector<std::string> forms = document_form_names();
    forms.emplace_back("pairs");
    s.add("documents", documents, "what a document is; pairs: a text and its translation",
          {.group = "data", .choices = forms});
    s.add("source-key", source_key, "pairs: column (name or number) or JSON key of the first text",
          {.group = "data"});
    s.add("target-key", target_key, "pairs: the same of its translation", {.group = "data"});
    s.add("memory", memory, "xlnet: tokens before a sequence that it sees, read by themselves",
          {.group = "data", .min = 0, .max = 1 << 20, .otherwise = "none"});
    describe_masks(*this, s);
    sizes.describe(s);
    describe_vocabulary(*this, s);
}

void PretrainSettings::check(Settings& s, const std::string& from) {
    static constexpr const char* of_the_model[] = {
        "model", "preset",     "layers",    "d-model",   "ffn",       "heads",
        "vocab", "vocab-size", "lowercase", "tokenizer", "max-length"};
    max_length_given = s.given("max-length");
    masking.anew = masks == "anew";
    if (documents == "auto" && translates(objective_named(objective))) documents = "pairs";
    if (!reads_pairs()) {
        static constexpr const char* of_pairs[] = {"source-key", "target-key"};
        leave_out(s, of_pairs, "without --documents pairs");
    }
    if (!from.empty()) {
        leave_out(s, of_the_model, "with --from: sizes and vocabulary are those of the model");
        return;
    }
    if (!tokenizer.empty()) {
        static constexpr const char* of_the_vocabulary[] = {"vocab", "vocab-size", "lowercase"};
        leave_out(s, of_the_vocabulary, "with --tokenizer");
    }
    if (!hides_tokens(objective_for(habit_of(model)))) {
        static constexpr const char* of_masks[] = {"mask-share", "whole-words", "masks"};
        leave_out(s, of_masks, "where nothing is masked");
    }
    if (memory.value_or(0) > 0 && model != "xlnet")
        refuse_without_effect("memory", "with --model " + model, "xlnet has a memory");
    if (context && max_length_given && *context > sizes.max_length)
        fail_with(ErrorKind::usage, "a --max-length of at least the context",
                  "train: --context is ", *context, ", but --max-length is ", sizes.max_length);
}

Objective PretrainSettings::objective_for(const ModelHabit& habit) const {
    // Of texts and translations: those that tell which language a token is of.
    const auto fits = [&](Objective o) {
        return reads_pairs() ? translates(o) || (o == Objective::masked && habit.has_languages)
                             : !translates(o);
    };
    if (objective == "auto")
        for (const Objective o : {habit.objective, Objective::masked_and_translated})
            if (fits(o) &&
                std::find(habit.allowed.begin(), habit.allowed.end(), o) != habit.allowed.end())
                return o;
    std::string allowed;
    for (const Objective o : habit.allowed) {
        if (!fits(o)) continue;
        if (objective == name_of(o)) return o;
        allowed += std::string(allowed.empty() ? "" : ", ") + name_of(o);
    }
    if (allowed.empty())
        fail_with(ErrorKind::usage, "--model bert has language embeddings",
                  "train: --documents is pairs, but ", habit.model,
                  " cannot learn from translations");
    fail_with(ErrorKind::usage, text_of(habit.model, " takes --objective ", allowed),
              "train: --objective is ", objective, ", which ", habit.model, " cannot learn",
              translates(objective_named(objective)) && !reads_pairs()
                  ? " from " + documents + ": it takes --documents pairs"
              : reads_pairs() ? " from pairs"
                              : "");
}

}  // namespace fovea
