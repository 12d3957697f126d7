#include "fovea/data/documents.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/data/scratch_file.h"
#include "fovea/text/train/train_corpus.h"

namespace fovea {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t looked_at = std::size_t{256} << 10;
constexpr std::size_t long_line = 400;  // bytes: more than a sentence
constexpr std::size_t json_limit = std::size_t{1} << 31;
constexpr const char* white = " \t\r\n";

constexpr std::pair<DocumentForm, const char*> forms[] = {
    {DocumentForm::automatic, "auto"}, {DocumentForm::blank_lines, "blank-lines"},
    {DocumentForm::file, "file"},      {DocumentForm::line, "line"},
    {DocumentForm::squad, "squad"},
};

bool blank_line(std::string_view line) {
    return line.find_first_not_of(white) == std::string_view::npos;
}

// Collects the text of a document and hands it on in pieces.
class PieceMaker {
public:
    PieceMaker(const TakeDocument& take, std::int64_t limit) : take_(take), limit_(limit) {}

    bool full() const { return limit_ > 0 && documents_ >= limit_; }

    void add(std::string_view text) {
        if (full()) return;
        if (text.ends_with("\r\n")) {
            text_.append(text.substr(0, text.size() - 2)).push_back('\n');
        } else {
            text_.append(text);
        }
        if (!begun_ && blank_line(text_) && text_.size() > piece_bytes) text_.clear();
        while (text_.size() > 2 * piece_bytes) hand_on(cut());
    }

    // `trim`: without the line breaks around it.
    void end(bool trim) {
        if (trim) {
            const std::size_t last = text_.find_last_not_of(white);
            text_.resize(last == std::string::npos ? 0 : last + 1);
        }
        if (!full() && (begun_ || !blank_line(text_))) {
            take_(text_, true);
            ++documents_;
        }
        text_.clear();
        begun_ = false;
    }

private:
    // Before the last line break that text follows, else before a space, else between characters.
    std::size_t cut() const {
        for (std::size_t at = piece_bytes; at > piece_bytes / 2; --at)
            if (text_[at] == '\n' && text_[at + 1] != '\n' && text_[at + 1] != ' ' &&
                text_[at + 1] != '\t')
                return at;
        const std::size_t space = text_.rfind(' ', piece_bytes);
        if (space != std::string::npos && space > 0) return space;
        return whole_chars(std::string_view(text_).substr(0, piece_bytes));
    }

    void hand_on(std::size_t size) {
        take_(std::string_view(text_).substr(0, size), false);
        text_.erase(0, size);
        begun_ = true;
    }

    const TakeDocument& take_;
    std::int64_t limit_, documents_ = 0;
    std::string text_;
    bool begun_ = false;  // a piece of this document was handed on
};

// The lines of a file, the first of which can be looked at before any is taken.
class Lines {
public:
    explicit Lines(const std::string& path) : reader_(path, true) {}

    bool next(std::string& line) {
        line.clear();
        if (at_ < first_.size()) {
            line = std::move(first_[at_++]);
            return true;
        }
        return reader_.next(line);
    }

    const std::vector<std::string>& look() {
        std::size_t bytes = 0;
        for (std::string line; bytes < looked_at && reader_.next(line); line.clear()) {
            bytes += line.size();
            first_.push_back(line);
        }
        return first_;
    }

private:
    CorpusReader reader_;
    std::vector<std::string> first_;
    std::size_t at_ = 0;
};

DocumentForm guessed_form(const std::vector<std::string>& lines) {
    std::size_t texts = 0, blank = 0, of_long = 0;
    bool json = false, gap = false;
    for (const std::string& line : lines) {
        if (blank_line(line)) {
            ++blank;
            continue;
        }
        if (texts == 0) json = line[line.find_first_not_of(white)] == '{';
        gap = gap || (texts > 0 && blank > 0);
        ++texts;
        of_long += line.size() > long_line;
    }
    if (json) {
        for (const std::string& line : lines)
            if (line.find("\"paragraphs\"") != std::string::npos) return DocumentForm::squad;
    }
    if (gap) return DocumentForm::blank_lines;
    return texts > 1 && of_long * 2 > texts ? DocumentForm::line : DocumentForm::file;
}

const char* form_sentence(DocumentForm form) {
    switch (form) {
        case DocumentForm::blank_lines:
            return "blank lines stand between documents";
        case DocumentForm::line:
            return "each line is a document";
        case DocumentForm::squad:
            return "SQuAD's JSON, each article is a document";
        default:
            return "the file is one document";
    }
}

void take_squad(Lines& lines, const std::string& path, PieceMaker& pieces) {
    std::string all;
    for (std::string line; lines.next(line);) {
        all += line;
        expect_input(all.size() < json_limit, path, ": a JSON file of over 2 GB");
    }
    const Json j = parse_json(all, path);
    all = {};
    const auto bad = [&](bool ok, const char* what) {
        if (!ok)
            fail_with(ErrorKind::bad_input,
                      "SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": …}]}]}; give "
                      "plain text as .txt",
                      path, ": ", what);
    };
    bad(j.is_object() && j.contains("data") && j["data"].is_array(), "has no list \"data\"");
    for (const Json& article : j["data"]) {
        bad(article.is_object() && article.contains("paragraphs") &&
                article["paragraphs"].is_array(),
            "an article has no list \"paragraphs\"");
        for (const Json& p : article["paragraphs"]) {
            bad(p.is_object() && p.contains("context") && p["context"].is_string(),
                "a paragraph has no text \"context\"");
            pieces.add(p["context"].get_ref<const std::string&>() + "\n");
        }
        pieces.end(true);
    }
}

void take_text(Lines& lines, DocumentForm form, PieceMaker& pieces) {
    for (std::string line; !pieces.full() && lines.next(line);) {
        const bool blank = blank_line(line);
        if (form == DocumentForm::blank_lines && blank) {
            pieces.end(true);
            continue;
        }
        pieces.add(line);
        if (form == DocumentForm::line && line.ends_with('\n')) pieces.end(true);
    }
    pieces.end(form != DocumentForm::file);
}

}  // namespace

DocumentForm document_form_of(const std::string& name) {
    for (const auto& [form, known] : forms)
        if (name == known) return form;
    fail_with(ErrorKind::usage, "one of auto, blank-lines, file, line, squad",
              "there is no form of documents `", name, "`");
}

std::vector<std::string> document_form_names() {
    std::vector<std::string> names;
    for (const auto& [form, name] : forms) names.emplace_back(name);
    return names;
}

void for_each_document(const DocumentFiles& files, const TakeDocument& take,
                       std::vector<std::string>* notes) {
    PieceMaker pieces(take, files.limit);
    for (const std::string& path : files.paths) {
        if (pieces.full()) return;
        Lines lines(path);
        DocumentForm form = files.form;
        if (form == DocumentForm::automatic) {
            form = guessed_form(lines.look());
            if (notes) notes->push_back(text_of(path, ": ", form_sentence(form), "   --documents"));
        }
        if (form == DocumentForm::squad)
            take_squad(lines, path, pieces);
        else
            take_text(lines, form, pieces);
    }
}

std::string rereadable(const std::string& path) {
    if (path != "-") return path;
    static const ScratchFile copy = [] {
        ScratchFile file;
        CorpusReader reader("-", true);
        for (std::string line; reader.next(line); line.clear())
            file.append(line.data(), static_cast<std::int64_t>(line.size()));
        return file;
    }();
    return copy.path();
}

}  // namespace fovea
