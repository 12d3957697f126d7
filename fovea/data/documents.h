#pragma once
// Documents of plain text files, as a stream: files of any size, gzipped, standard input. A
// document is what stands between blank lines, a whole file, or a line; SQuAD's JSON is read too
// (an article is a document, its paragraphs are the contexts). Not thread-safe: one call reads.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

enum class DocumentForm {
    automatic,    // by a look at the beginning of each file
    blank_lines,  // blank lines stand between documents
    file,         // a file is one document, blank lines and all
    line,         // each line is one
    squad,        // {"data": [{"paragraphs": [{"context": …}]}]}
};
DocumentForm document_form_of(const std::string& name);
std::vector<std::string> document_form_names();  // auto, blank-lines, file, line, squad

struct DocumentFiles {
    std::vector<std::string> paths;  // read one after the other; "-" is standard input
    DocumentForm form = DocumentForm::automatic;
    std::int64_t limit = 0;  // only the first so many documents; 0: all
};

// A document in one or more pieces of about a megabyte. Pieces are cut before a line break that
// text follows: there tokenizers cut too. `last`: the document ends with this piece.
using TakeDocument = std::function<void(std::string_view text, bool last)>;

// Documents without text are passed over. `notes` hears what was guessed. A file that is no UTF-8
// text is an error.
void for_each_document(const DocumentFiles& files, const TakeDocument& take,
                       std::vector<std::string>* notes = nullptr);

// Standard input may be read only once: a path behind which it can be read again (a scratch file
// that goes with the process). Other paths are given back.
std::string rereadable(const std::string& path);

}  // namespace fovea
