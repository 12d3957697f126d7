#pragma once
// What is in files of plain text, before hours are spent on them: documents, sentences, words,
// what repeats, and what the held-out files share with the first one. Reads each file once, as a
// stream; keeps the names of the documents.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/documents.h"

namespace fovea {

struct NamedDocuments {
    std::string name;
    DocumentFiles files;
};

struct DocumentsFileCheck {
    std::string name;
    std::vector<std::string> paths, notes;  // notes: what a document was taken to be
    std::int64_t documents = 0, sentences = 0, words = 0, bytes = 0;
    std::int64_t repeated = 0;  // documents that stand for a second, third, … time
    std::int64_t shared = 0;    // of a held-out set: documents that the first one has too
};

struct DocumentsCheck {
    std::vector<DocumentsFileCheck> files;
    bool clean() const;  // there is text, and nothing is shared
    std::string text() const;
    std::string json() const;
};

DocumentsCheck check_documents(std::span<const NamedDocuments> sets);

}  // namespace fovea
