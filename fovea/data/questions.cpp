#include "fovea/data/questions.h"

#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/squad.h"

namespace fovea {
namespace {

constexpr std::size_t squad_limit = std::size_t{512} << 20;  // bytes; a tree of it takes 5 x that
constexpr const char* squad_hint =
    "SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": \"…\", \"qas\": [{\"id\": \"…\", "
    "\"question\": \"…\", \"answers\": [{\"text\": \"…\", \"answer_start\": 17}]}]}]}]}";

bool begins_as_lines(const std::string& first) {
    for (const char* of_squad : {"\"paragraphs\"", "\"qas\""})
        if (first.find(of_squad) != std::string::npos) return false;
    return first.find("\"question\"") != std::string::npos &&
           first.find("\"context\"") != std::string::npos;
}

class QuestionReader {
public:
    explicit QuestionReader(const QuestionFiles& files) : files_(files) {}

    void read(const std::string& path) {
        LineReader lines(path);
        std::string all;
        bool by_lines = false;
        for (std::string line; !full() && lines.next(line);) {
            if (all.empty() && !by_lines) by_lines = begins_as_lines(line);
            if (by_lines) {
                if (!line.empty()) take_line(path, lines.line_number(), line);
                continue;
            }
            expect_input(all.size() + line.size() < squad_limit, path, ": a JSON file of over ",
                         squad_limit >> 20, " MB");
            all.append(line).push_back('\n');
        }
        if (!by_lines) take_squad(path, std::move(all));
    }

    bool full() const {
        return files_.limit > 0 && static_cast<std::int64_t>(out.questions.size()) >= files_.limit;
    }

    QuestionData out;

private:
    // The first beyond --skip-bad ends the reading.
    void bad(const std::string& path, const std::string& place, const BadQuestion& problem) {
        const std::string message = path + ": " + place + ": " + problem.what;
        if (out.problems.skipped >= files_.skip_bad)
            throw Error(message, ErrorKind::bad_input, problem.hint);
        ++out.problems.skipped;
        if (static_cast<int>(out.problems.first.size()) < files_.keep_messages)
            out.problems.first.push_back(message);
    }

    static QuestionRecord place_of(std::shared_ptr<const std::string> context,
                                   const std::string& path, std::string place) {
        QuestionRecord r;
        r.context = std::move(context);
        r.path = path;
        r.place = std::move(place);
        return r;
    }

    void take(const Json& json, QuestionRecord record) {
        const std::string path = record.path, place = record.place;
        if (const auto problem = take_question(json, record)) return bad(path, place, *problem);
        if (!record.id.empty() && !ids_.insert(record.id).second)
            return bad(path, place,
                       {"the id \"" + record.id + "\" stands twice", "give each its own"});
        out.unanswered += record.answers.empty();
        if (record.context != last_) ++out.contexts;
        last_ = record.context;
        out.questions.push_back(std::move(record));
    }

    void take_line(const std::string& path, std::int64_t number, const std::string& line) {
        const std::string place = text_of("line ", number);
        Json json;
        try {
            json = parse_json(line, path);
        } catch (const Error& e) {
            return bad(path, place, {std::string(e.what()).substr(path.size() + 2)});
        }
        if (!json.is_object() || !json.contains("context") || !json["context"].is_string())
            return bad(path, place, {"has no text \"context\""});
        auto context = std::make_shared<const std::string>(json["context"].get<std::string>());
        if (last_ && *last_ == *context) context = last_;
        take(json, place_of(context, path, place));
    }

    static void want(bool ok, const std::string& path, const std::string& place, const char* what) {
        if (!ok)
            fail_with(ErrorKind::bad_input, squad_hint, path, ": ",
                      place + (place.empty() ? "" : ": ") + what);
    }
    static const Json& list_in(const Json& json, const char* name, const std::string& path,
                               const std::string& place) {
        want(json.is_object() && json.contains(name) && json[name].is_array(), path, place,
             text_of("has no list \"", name, "\"").c_str());
        return json[name];
    }

    void take_squad(const std::string& path, std::string all) {
        want(all.find_first_not_of(" \t\r\n") != std::string::npos, path, "", "is empty");
        const Json json = parse_json(all, path);
        all = {};
        const Json& data = list_in(json, "data", path, "");
        for (std::size_t a = 0; a < data.size() && !full(); ++a) {
            const std::string article = text_of("data[", a, "]");
            const Json& paragraphs = list_in(data[a], "paragraphs", path, article);
            for (std::size_t p = 0; p < paragraphs.size() && !full(); ++p)
                take_paragraph(path, text_of(article, ".paragraphs[", p, "]"), paragraphs[p]);
        }
    }

    void take_paragraph(const std::string& path, const std::string& place, const Json& json) {
        const Json& questions = list_in(json, "qas", path, place);
        want(json.contains("context") && json["context"].is_string(), path, place,
             "has no text \"context\"");
        const auto context =
            std::make_shared<const std::string>(json["context"].get<std::string>());
        for (std::size_t q = 0; q < questions.size() && !full(); ++q)
            take(questions[q], place_of(context, path, text_of(place, ".qas[", q, "]")));
    }

    const QuestionFiles& files_;
    std::unordered_set<std::string> ids_;
    std::shared_ptr<const std::string> last_;
};

}  // namespace

QuestionData read_questions(const QuestionFiles& files) {
    QuestionReader reader(files);
    for (const std::string& path : files.paths)
        if (!reader.full()) reader.read(path);
    expect_input(!reader.out.questions.empty() || reader.out.problems.skipped > 0,
                 files.paths.empty() ? "questions" : files.paths[0], ": holds no question");
    return std::move(reader.out);
}

}  // namespace fovea
