// Syntax beside another task: each word of a CoNLL-U file tells the way to its head ("2" is two
// words on, "root" has none): dependency parsing as tagging (Strzyz et al. 2019, §3.1).
#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/tasks/multi_words.h"

namespace fovea {
namespace {

constexpr int furthest_head = 24;  // longer ways are one class, in each direction

class HeadsPart : public WordPart {
public:
    void describe(Settings& s) override {
        s.add("words", words_key_, "column of the words",
              {.group = "data", .otherwise = "FORM of CoNLL-U"});
        s.add("heads-column", heads_key_, "column of the heads", {.group = "data"});
    }

private:
    const char* name() const override { return "heads"; }

    std::vector<TaggedWords> read(const TaggedFiles& from) const override {
        TaggedFiles files = from;
        files.word_key = words_key_;
        files.tag_key = heads_key_;
        files.scheme = TagScheme::plain;
        std::vector<TaggedWords> all = read_tagged(files).sentences;
        for (TaggedWords& s : all) turn_into_ways(s);
        return all;
    }

    static void turn_into_ways(TaggedWords& s) {
        const auto n = static_cast<int>(s.tags.size());
        for (int i = 0; i < n; ++i) {
            std::string& tag = s.tags[static_cast<std::size_t>(i)];
            int head = -1;
            const auto read = std::from_chars(tag.data(), tag.data() + tag.size(), head);
            if (read.ec != std::errc{} || read.ptr != tag.data() + tag.size() || head < 0 ||
                head > n || head == i + 1)
                fail_with(ErrorKind::bad_input,
                          "heads are numbers of other words of the sentence, 0 for the root",
                          s.path, ":", s.line, ": the head of word ", i + 1, " is \"", tag,
                          "\", but the sentence has ", n, " words");
            const int way = std::clamp(head - i - 1, -furthest_head, furthest_head);
            tag = head == 0 ? "root" : std::to_string(way);
        }
    }

    std::string words_key_, heads_key_ = "head";
};

}  // namespace

std::unique_ptr<Trainer> make_heads_part() { return std::make_unique<HeadsPart>(); }

}  // namespace fovea
