#include "fovea/data/check_documents.h"

#include <fmt/core.h>

#include <unordered_set>

#include "fovea/base/json.h"
#include "fovea/data/sentences.h"
#include "fovea/data/token_documents.h"

namespace fovea {
namespace {

std::int64_t count_words(std::string_view text) {
    std::int64_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool white = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        words += !white && !inside;
        inside = !white;
    }
    return words;
}

}  // namespace

DocumentsCheck check_documents(std::span<const NamedDocuments> sets) {
    DocumentsCheck check;
    std::unordered_set<std::uint64_t> first;
    for (const NamedDocuments& set : sets) {
        DocumentsFileCheck f{.name = set.name, .paths = set.files.paths, .notes = {}};
        std::unordered_set<std::uint64_t> own;
        std::uint64_t name = 0;
        for_each_document(
            set.files,
            [&](std::string_view text, bool last) {
                f.bytes += static_cast<std::int64_t>(text.size());
                f.sentences += static_cast<std::int64_t>(split_sentences(text).size());
                f.words += count_words(text);
                name = document_name(name, text);
                if (!last) return;
                ++f.documents;
                f.repeated += !own.insert(name).second;
                f.shared += static_cast<std::int64_t>(first.count(name));
                name = 0;
            },
            &f.notes);
        if (check.files.empty()) first = std::move(own);
        check.files.push_back(std::move(f));
    }
    return check;
}

bool DocumentsCheck::clean() const {
    for (const DocumentsFileCheck& f : files)
        if (f.documents == 0 || f.shared > 0) return false;
    return true;
}

std::string DocumentsCheck::text() const {
    std::string out;
    for (const DocumentsFileCheck& f : files) {
        for (const std::string& note : f.notes) out += "note: " + note + "\n";
        out += fmt::format("{}: {} documents, {} sentences, {} words, {:.1f} MB\n", f.name,
                           f.documents, f.sentences, f.words, static_cast<double>(f.bytes) / 1e6);
        if (f.repeated > 0) out += fmt::format("  {} documents repeat others\n", f.repeated);
        if (f.shared > 0)
            out += fmt::format("  {} documents stand in {} too\n", f.shared, files[0].name);
    }
    return out;
}

std::string DocumentsCheck::json() const {
    Json j{{"schema", "fovea.data_check"}, {"version", 1}, {"files", Json::array()}};
    for (const DocumentsFileCheck& f : files)
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"notes", f.notes},
                              {"documents", f.documents},
                              {"sentences", f.sentences},
                              {"words", f.words},
                              {"bytes", f.bytes},
                              {"repeated", f.repeated},
                              {"shared", f.shared}});
    j["clean"] = clean();
    return to_text(j);
}

}  // namespace fovea
