#pragma once
// The columns of a CoNLL file, found as its lines come: what parts them, how many there are, their
// names, and which hold the words and the tags. Not thread-safe: it belongs to one reader.
#include <cstddef>
#include <string>
#include <vector>

namespace fovea {

struct ConllLine {
    enum class Kind { word, ends, passed_over };  // ends: of a sentence
    Kind kind = Kind::word;
    std::string word, tag;
    std::string problem = {}, hint = {};
};

class ConllColumns {
public:
    ConllColumns(std::string path, std::string word_key, std::string tag_key);

    // `begins`: no word of a sentence has been read yet (only there may a comment stand).
    ConllLine read(const std::string& line, bool begins);
    std::string note() const;  // which columns were taken

private:
    std::vector<std::string> cells_of(const std::string& line) const;
    bool is_comment(const std::string& line) const;
    bool is_header(const std::vector<std::string>& cells) const;
    void settle(const std::vector<std::string>& cells);
    std::size_t column(const std::string& key, const char* what) const;
    std::size_t guessed_tags() const;

    std::string path_, word_key_, tag_key_;
    std::vector<std::string> names_;
    std::size_t count_ = 0;  // of columns; 0: not known yet
    std::size_t word_ = 0, tag_ = 0;
    bool tabs_ = false, conllu_ = false;
};

}  // namespace fovea
