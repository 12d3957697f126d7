// The table of tasks. A new task is its own files and a row here.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tasks/answer.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/detect.h"
#include "fovea/tasks/embed.h"
#include "fovea/tasks/fill.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/multi.h"
#include "fovea/tasks/paint.h"
#include "fovea/tasks/pretrain.h"
#include "fovea/tasks/pretrained_model.h"
#include "fovea/tasks/segment.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/tasks/seq2seq_task.h"
#include "fovea/tasks/slots.h"
#include "fovea/tasks/speech.h"
#include "fovea/tasks/tag.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/track.h"
#include "fovea/tasks/vectors.h"

namespace fovea {
namespace {

const TaskEntry table[] = {
    {"translate",
     "Translate lines of text.",
     "texts, one per line",
     RecordShape::pairs,
     {"fovea translate run/model < english.txt > german.txt",
      "fovea translate run/model --beam 4 --n-best 4 --format jsonl < in.txt",
      "fovea translate run/model --alignments < in.txt"},
     make_translate_trainer,
     make_seq2seq_predictor,
     save_seq2seq,
     {"marian", "fovea_transformer"}},
    {"summarise",
     "Summarise documents, one per line.",
     "documents, one per line",
     RecordShape::summaries,
     {"fovea summarise run/model < documents.txt",
      "fovea summarise run/model --beam 4 < documents.txt",
      "fovea summarise run/model --format jsonl < documents.txt"},
     make_summarise_trainer,
     make_seq2seq_predictor,
     save_seq2seq,
     {"bart"}},
    {"classify",
     "Give each text a label.",
     "texts, one per line, or a table",
     RecordShape::labelled,
     {"fovea classify run/model < reviews.txt", "fovea classify run/model reviews.csv --format tsv",
      "fovea classify run/model --top 3 --format jsonl < reviews.txt"},
     make_classify_trainer,
     make_classify_predictor,
     save_classifier,
     {},
     {Head::classes},
     true,
     false,
     "image"},
    {"image",
     "Give each picture a label.",
     "pictures (.png, .jpg, IDX), or a file of their paths, one per line",
     RecordShape::pictures,
     {"fovea image run/model photo.jpg", "fovea image run/model *.png --top 3 --format jsonl",
      "fovea image run/model --format tsv < paths.txt"},
     make_image_trainer,
     make_image_predictor,
     save_image_model,
     {"vit", "deit"},
     {},
     false},
    {"paint",
     "Paint pictures of a class, pixel by pixel.",
     "classes, one per line",
     RecordShape::pictures,
     {"fovea paint run/model --class 1 --samples 8 --pictures painted/",
      "fovea paint run/model --class 1 --temperature 0.9 --top-p 0.95 --sheet sheet.png",
      "fovea paint run/model --class 9 --complete half.png --samples 4 --sheet sheet.png"},
     make_paint_trainer,
     make_paint_predictor,
     save_painter,
     {PaintModel::model_type},
     {},
     false},
    {"tag",
     "Find entities in texts, or give each word a tag.",
     "texts, one per line",
     RecordShape::tagged,
     {"fovea tag run/model < news.txt", "fovea tag run/model --format jsonl < news.txt",
      "echo \"Anna Kova lives in Oslo.\" | fovea tag run/model --format tsv"},
     make_tag_trainer,
     make_tag_predictor,
     save_tagger,
     {},
     {Head::tags},
     false},
    {"answer",
     "Answer questions with words of a text.",
     "questions about --context, one per line, or a table of question and context",
     RecordShape::questions,
     {"fovea answer run/model --question \"Who wrote it?\" --context book.txt",
      "fovea answer run/model --context book.txt --top 3 < questions.txt",
      "fovea answer run/model questions.jsonl --format jsonl"},
     make_answer_trainer,
     make_answer_predictor,
     save_answerer,
     {},
     {Head::spans},
     false},
    {"slots",
     "Find what requests want, and with what.",
     "texts, one per line",
     RecordShape::slots,
     {"fovea slots run/model < requests.txt", "fovea slots run/model --format jsonl < requests.txt",
      "echo \"play some jazz\" | fovea slots run/model --format tsv"},
     make_slots_trainer,
     make_slots_predictor,
     save_slots,
     {},
     {},
     false},
    {"transcribe",
     "Write down what is said in sounds, or name their class.",
     "sounds (.wav, .flac, .mfc), or lists of their paths",
     RecordShape::sounds,
     {"fovea transcribe run/model a.wav b.flac", "fovea transcribe run/model --times a.wav",
      "fovea transcribe run/model --beam 8 --format jsonl < paths.txt"},
     make_speech_trainer,
     make_speech_predictor,
     save_transcriber,
     {"whisper", SpeechConfig::model_type},
     {},
     false},
    {"segment",
     "Say of each pixel of pictures what it shows.",
     "pictures (.png, .jpg)",
     RecordShape::masked,
     {"fovea segment run/model cells/*.png --masks masks/",
      "fovea segment run/model cell.png --draw drawings/",
      "fovea eval run/model --test cells/ --baseline otsu"},
     make_segment_trainer,
     make_segment_predictor,
     save_segmenter,
     {"segformer"},
     {},
     false},
    {"detect",
     "Find things in pictures: boxes, labels, scores.",
     "pictures (.png, .jpg)",
     RecordShape::boxed,
     {"fovea detect run/model photos/*.jpg --draw drawings/",
      "fovea detect run/model photo.jpg --least 0.5 --format jsonl",
      "fovea detect run/model *.jpg --results found.json   # COCO's result JSON"},
     make_detect_trainer,
     make_detect_predictor,
     save_detector,
     {"detr", "fovea_detector"},
     {},
     false},
    {"track",
     "Follow things through the frames of a film.",
     "folders of frames (.png, .jpg), by a model that segments",
     RecordShape::masked,
     {"fovea track run/model film/ > tracks.txt",
      "fovea track run/model film/ --draw drawings/ --format jsonl",
      "fovea eval run/model --test tracks/ --feature-weight 0"},
     nullptr,
     make_track_predictor,
     save_segmenter,
     {},
     {},
     false,
     false,
     "segment"},
    {"pretrain",
     "Learn a language from plain text.",
     "documents of plain text",
     RecordShape::texts,
     {},
     make_pretrain_trainer,
     nullptr,
     save_pretrained},
    {"multi",
     "Learn several tasks at once on one encoder.",
     "the files of its tasks",
     RecordShape::texts,
     {},
     make_multi_trainer,
     nullptr,
     nullptr},
    {"generate",
     "Go on with a text.",
     "prompts, one per line",
     RecordShape::texts,
     {"fovea generate run/model --prompt \"Once upon a time\" --max-tokens 50",
      "fovea generate run/model --prompt \"The\" --sample --top-p 0.9 --samples 3 --seed 7",
      "fovea generate run/model --format jsonl < prompts.txt"},
     nullptr,
     make_generate_predictor,
     save_language_model,
     {"gpt2", "xlnet"},
     {Head::words},
     true,
     false,
     "paint"},
    {"fill",
     "Fill the gaps in texts: the [MASK] sat on the mat.",
     "texts with [MASK] or <mask>, one per line",
     RecordShape::texts,
     {"echo \"the [MASK] sat on the mat\" | fovea fill run/model",
      "fovea fill run/model --top 10 --format jsonl < texts.txt",
      "fovea fill run/model --next < two-columns.tsv"},
     nullptr,
     make_fill_predictor,
     save_pretrained,
     {},
     {Head::words, Head::words_and_next, Head::next}},
    {"embed",
     "Turn texts into vectors; find the lines most like a text.",
     "texts, one per line",
     RecordShape::pairs,
     {"fovea embed run/model --nearest questions.txt < query.txt",
      "fovea embed run/model --similarity < two-columns.tsv",
      "fovea embed run/model --format jsonl < texts.txt"},
     make_embed_trainer,
     make_embed_predictor,
     save_embedder,
     {},
     {},
     false,
     true},
    {"vectors",
     "Find the words nearest to a word, by word vectors.",
     "words, one per line, or king - man + woman",
     RecordShape::texts,
     {"echo king | fovea vectors run/model",
      "echo \"king - man + woman\" | fovea vectors run/model",
      "fovea vectors run/model --values --format jsonl < words.txt"},
     make_vectors_trainer,
     make_vectors_predictor,
     save_word_vectors,
     {word_vectors_type},
     {},
     false},
};

}  // namespace

std::span<const TaskEntry> tasks() { return table; }

const TaskEntry* find_task(const std::string& name) {
    for (const TaskEntry& t : table)
        if (name == t.name) return &t;
    return nullptr;
}

std::string task_of_config(const ModelFolder& folder) {
    const std::string type = model_type_of(folder.config);
    const Head head = head_named_in(folder.config).value_or(Head::none);
    const auto lists = [](const auto& all, const auto& one) {
        return std::find(all.begin(), all.end(), one) != all.end();
    };
    for (const TaskEntry& t : table) {
        const bool of_type = lists(t.model_types, type);
        const bool fits = head == Head::none
                              ? of_type
                              : lists(t.heads, head) && (of_type || t.model_types.empty());
        if (fits) return t.name;
    }
    return "";
}

std::vector<std::string> trained_tasks() {
    std::vector<std::string> names;
    for (const TaskEntry& t : table)
        if (t.trainer) names.emplace_back(t.name);
    return names;
}

const TaskEntry* task_for(RecordShape shape) {
    for (const TaskEntry& t : table)
        if (t.trainer && t.records == shape) return &t;
    return nullptr;
}

std::vector<Knob> Trainer::knobs() const {
    return {{"lr", {"x3", "x0.3"}}, {"preset", {"small"}}, {"dropout", {"0", "0.3"}}};
}

void Trainer::dump(const std::string&, std::int64_t) const {
    throw Error("train: this task has no --dump", ErrorKind::usage);
}

}  // namespace fovea
