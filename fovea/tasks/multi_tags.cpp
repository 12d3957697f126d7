// Tags beside another task: each word of tagged sentences tells its tag, on the rows of an encoder
// of any kind (a translator's too). Tags are classes as they stand; where entities are wanted, with
// scores and a model of their own, the task is `tag`.
#include "fovea/tasks/multi_words.h"

namespace fovea {
namespace {

class TagsPart : public WordPart {
public:
    void describe(Settings& s) override {
        s.add("words", words_key_, "column of the words",
              {.group = "data", .otherwise = "the first"});
        s.add("tags", tags_key_, "column of the tags", {.group = "data", .otherwise = "the last"});
    }

private:
    const char* name() const override { return "tags"; }

    std::vector<TaggedWords> read(const TaggedFiles& from) const override {
        TaggedFiles files = from;
        files.word_key = words_key_;
        files.tag_key = tags_key_;
        files.scheme = TagScheme::plain;
        return read_tagged(files).sentences;
    }

    std::string words_key_, tags_key_;
};

}  // namespace

std::unique_ptr<Trainer> make_tags_part() { return std::make_unique<TagsPart>(); }

}  // namespace fovea
