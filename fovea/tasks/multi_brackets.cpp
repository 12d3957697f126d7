// Constituents beside another task: how many brackets open before each word and close behind it,
// from trees as treebanks write them, one a line: (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))).
// Labels may be left out. The classes say where constituents begin and end, not what they are.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/tasks/multi_words.h"

namespace fovea {
namespace {

constexpr int most_brackets = 9;

struct TreeToken {
    enum class Kind { open, close, word } kind = Kind::word;
    std::string text;
};

std::vector<TreeToken> tree_tokens(const std::string& line) {
    std::vector<TreeToken> tokens;
    for (std::size_t at = 0; at < line.size();) {
        const char c = line[at];
        if (c == '(' || c == ')') {
            tokens.push_back({c == '(' ? TreeToken::Kind::open : TreeToken::Kind::close, ""});
            ++at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at;
        } else {
            const std::size_t end = std::min(line.find_first_of("() \t\r", at), line.size());
            tokens.push_back({TreeToken::Kind::word, line.substr(at, end - at)});
            at = end;
        }
    }
    return tokens;
}

class BracketsPart : public WordPart {
public:
    void describe(Settings&) override {}

private:
    const char* name() const override { return "brackets"; }

    std::vector<TaggedWords> read(const TaggedFiles& files) const override {
        std::vector<TaggedWords> all;
        for (const std::string& path : files.paths) {
            LineReader lines(path);
            for (std::string line; lines.next(line);) {
                if (files.limit > 0 && static_cast<std::int64_t>(all.size()) >= files.limit) break;
                if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
                TaggedWords s;
                s.path = path;
                s.line = lines.line_number();
                read_tree(tree_tokens(line), s);
                all.push_back(std::move(s));
            }
        }
        expect_input(!all.empty(), files.paths[0], ": holds no tree");
        return all;
    }

    // A text right behind "(" is a label, unless it is all that stands in its brackets.
    static void read_tree(const std::vector<TreeToken>& tokens, TaggedWords& s) {
        using Kind = TreeToken::Kind;
        const auto refuse = [&](const std::string& what) {
            fail_with(ErrorKind::bad_input, "a tree a line: (S (NP Anna) (VP sleeps))", s.path, ":",
                      s.line, ": ", what);
        };
        std::vector<int> opened, closed;
        int depth = 0, opening = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool after_open = i > 0 && tokens[i - 1].kind == Kind::open;
            if (tokens[i].kind == Kind::open) {
                ++depth, ++opening;
            } else if (tokens[i].kind == Kind::close) {
                if (--depth < 0) refuse("a bracket closes that never opened");
                if (!closed.empty()) ++closed.back();
            } else if (!after_open ||
                       (i + 1 < tokens.size() && tokens[i + 1].kind == Kind::close)) {
                if (depth == 0) refuse("\"" + tokens[i].text + "\" stands outside of the brackets");
                s.words.push_back(tokens[i].text);
                opened.push_back(opening), closed.push_back(0);
                opening = 0;
            }
        }
        if (depth != 0) refuse(text_of(depth, " brackets are never closed"));
        if (s.words.empty()) refuse("there are no words");
        for (std::size_t w = 0; w < s.words.size(); ++w)
            s.tags.push_back(text_of(std::min(opened[w], most_brackets), "/",
                                     std::min(closed[w], most_brackets)));
    }
};

}  // namespace

std::unique_ptr<Trainer> make_brackets_part() { return std::make_unique<BracketsPart>(); }

}  // namespace fovea
