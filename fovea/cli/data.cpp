#include "fovea/cli/data.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/error.h"
#include "fovea/cli/data_make.h"
#include "fovea/cli/data_rewrite.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/data/check.h"
#include "fovea/data/check_boxes.h"
#include "fovea/data/check_documents.h"
#include "fovea/data/check_labels.h"
#include "fovea/data/check_masks.h"
#include "fovea/data/check_pictures.h"
#include "fovea/data/check_questions.h"
#include "fovea/data/check_slots.h"
#include "fovea/data/check_tags.h"
#include "fovea/data/check_waves.h"
#include "fovea/tasks/task.h"

namespace fovea {
namespace {

struct CheckChoice {
    std::string train;
    std::vector<std::string> held_out, text_keys;
    std::string source_key, target_key, label_key, task = "auto", header = "auto", format;
    std::int64_t limit = 0;

    // Train, then "held-out", or "held-out 1", "held-out 2", …
    template <class Named, class Make>
    std::vector<Named> sets(const Make& make) const {
        std::vector<Named> all{{"train", make(train)}};
        for (std::size_t i = 0; i < held_out.size(); ++i)
            all.push_back({held_out.size() == 1 ? "held-out" : fmt::format("held-out {}", i + 1),
                           make(held_out[i])});
        return all;
    }
};

// By the flags, else by a look at the training file; a pipe can be read only once, and is taken for
// pairs.
RecordShape shape_of(const CheckChoice& c) {
    if (const TaskEntry* task = find_task(c.task)) return task->records;
    if (!c.source_key.empty() || !c.target_key.empty()) return RecordShape::pairs;
    const auto guess = guess_shape(c.train);
    const RecordShape shape = guess ? guess->shape : RecordShape::pairs;
    if (shape == RecordShape::tagged || shape == RecordShape::pictures ||
        shape == RecordShape::sounds)
        return shape;  // their keys are those of labels, too
    return c.label_key.empty() && c.text_keys.empty() ? shape : RecordShape::labelled;
}

template <class Check>
void report_check(const Check& check, const CheckChoice& choice, const char* what) {
    fmt::print("{}", choice.format == "json" ? check.json() + "\n" : check.text());
    if (!check.clean())
        fail_with(ErrorKind::bad_input,
                  "mend the lines above, or train with --skip-bad N if they are few", what);
}

void run_tag_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedTagged>([&](const std::string& argument) {
        TaggedFiles files;
        files.paths = {argument};
        if (!choice.text_keys.empty()) files.word_key = choice.text_keys[0];
        files.tag_key = choice.label_key;
        files.limit = choice.limit;
        return files;
    });
    report_check(check_tagged(sets), choice,
                 "the data has bad sentences or tags that training lacks");
}

void run_question_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedQuestions>([&](const std::string& argument) {
        QuestionFiles files;
        files.paths = {argument};
        files.limit = choice.limit;
        return files;
    });
    report_check(check_questions(sets), choice,
                 "the data has bad questions or contexts shared with the held-out files");
}

void run_document_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedDocuments>([&](const std::string& argument) {
        return DocumentFiles{.paths = {argument}, .limit = choice.limit};
    });
    report_check(check_documents(sets), choice,
                 "there is no text, or documents are shared with the held-out files");
}

void run_label_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedLabelled>([&](const std::string& argument) {
        LabelledFiles files;
        files.paths = {argument};
        files.header = header_of(choice.header);
        files.text_keys = choice.text_keys;
        files.label_key = choice.label_key;
        files.limit = choice.limit;
        return files;
    });
    report_check(check_labelled(sets), choice,
                 "the data has bad lines, empty texts, labels that training lacks or records "
                 "shared with the held-out files");
}

void run_pair_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedFiles>([&](const std::string& argument) {
        PairFiles files = pair_files_of(argument);
        files.header = header_of(choice.header);
        files.source_key = choice.source_key;
        files.target_key = choice.target_key;
        files.limit = choice.limit;
        return files;
    });
    report_check(check_data(sets), choice,
                 "the data has bad lines, empty sides or pairs shared with the held-out files");
}

void run_slot_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedSlotFiles>([&](const std::string& argument) {
        SlotFiles files;
        files.paths = {argument};
        files.limit = choice.limit;
        return files;
    });
    report_check(check_slot_texts(sets), choice,
                 "the data has bad texts, or intents and slots that training lacks");
}

void run_picture_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedPictures>([&](const std::string& argument) {
        return LabelledPictures{.paths = {argument},
                                .picture_keys = choice.text_keys,
                                .label_key = choice.label_key,
                                .limit = choice.limit};
    });
    report_check(check_pictures(sets), choice,
                 "there are files that cannot be read, labels that training lacks or pictures "
                 "shared with the held-out files");
}

void run_wave_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedClips>([&](const std::string& argument) {
        ClipFiles files;
        files.paths = {argument};
        files.text_key = choice.text_keys.empty() ? choice.label_key : choice.text_keys[0];
        files.limit = choice.limit;
        return files;
    });
    report_check(check_waves(sets), choice,
                 "there are sounds that cannot be read, or that the held-out files share");
}

void run_mask_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedMasked>([&](const std::string& argument) {
        return MaskedFiles{.paths = {argument}, .limit = choice.limit};
    });
    report_check(check_masked(sets), choice,
                 "there are files that cannot be learned from, or pictures shared with the "
                 "held-out files");
}

void run_box_check(const CheckChoice& choice) {
    const auto sets = choice.sets<NamedBoxed>([&](const std::string& argument) {
        return BoxedFiles{.paths = {argument}, .limit = choice.limit};
    });
    report_check(check_boxed(sets), choice,
                 "there are files that cannot be learned from, labels that training lacks or "
                 "pictures shared with the held-out files");
}

void run_check(const CheckChoice& choice) {
    switch (shape_of(choice)) {
        case RecordShape::tagged:
            return run_tag_check(choice);
        case RecordShape::questions:
            return run_question_check(choice);
        case RecordShape::texts:
            return run_document_check(choice);
        case RecordShape::labelled:
            return run_label_check(choice);
        case RecordShape::pairs:
        case RecordShape::summaries:
            return run_pair_check(choice);
        case RecordShape::slots:
            return run_slot_check(choice);
        case RecordShape::pictures:
            return run_picture_check(choice);
        case RecordShape::sounds:
            return run_wave_check(choice);
        case RecordShape::masked:
            return run_mask_check(choice);
        case RecordShape::boxed:
            return run_box_check(choice);
    }
}

void add_check(CLI::App& data) {
    CLI::App* check = data.add_subcommand(
        "check", "Counts, lengths, bad lines, duplicates, labels, and what sets share.");
    set_examples(*check,
                 {"fovea data check train.tsv dev.tsv test.tsv.gz",
                  "fovea data check train.en,train.de dev.en,dev.de",
                  "fovea data check mails/train mails/dev   # folders of .subject files",
                  "fovea data check train.jsonl --source-key text --target-key summary --json",
                  "fovea data check reviews.csv dev.csv --task classify",
                  "fovea data check train.conll dev.conll --label-key 4",
                  "fovea data check train-v2.0.json dev-v2.0.json   # SQuAD",
                  "zcat pairs.gz | fovea data check -"});
    auto choice = std::make_shared<CheckChoice>();
    std::vector<std::string> choices = trained_tasks();
    choices.insert(choices.begin(), "auto");
    check->add_option("TRAIN", choice->train, "file, source,target pair of files, folder, or -")
        ->required();
    check->add_option("HELD_OUT", choice->held_out, "dev and test files, to find leaks");
    check
        ->add_option("--task", choice->task,
                     "what the records are for; auto looks at the file (a pipe holds pairs)")
        ->check(CLI::IsMember(choices));
    check->add_option("--source-key", choice->source_key, "column or key of the source");
    check->add_option("--target-key", choice->target_key, "column or key of the target");
    check->add_option("--text-key", choice->text_keys, "column or key of a text; twice for two")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    check->add_option("--label-key", choice->label_key, "column or key of the label");
    check->add_option("--limit", choice->limit, "only the first N records of each file; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->group(more_group);
    add_header_option(*check, choice->header);
    add_format_options(*check, choice->format, {"text", "json"});
    check->callback([choice] { run_check(*choice); });
}

}  // namespace

void add_data_command(CLI::App& app) {
    CLI::App* data =
        app.add_subcommand("data", "Check, split and clean data before hours are spent on it.");
    data->require_subcommand(1);
    set_examples(*data, {"fovea data check train.tsv dev.tsv test.tsv",
                         "fovea data split pairs.tsv --dev 5% --out-dir data",
                         "fovea data dedupe pairs.tsv > new.tsv"});
    add_check(*data);
    add_data_split(*data);
    add_data_dedupe(*data);
    add_data_make(*data);
}

}  // namespace fovea
