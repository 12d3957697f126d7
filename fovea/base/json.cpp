#include "fovea/base/json.h"

#include <set>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

Json parse_json(std::string_view text, const std::string& where, int max_depth) {
    std::vector<std::set<std::string>> keys;
    std::string problem;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
        using Event = Json::parse_event_t;
        if (depth > max_depth && problem.empty())
            problem = text_of("nested deeper than ", max_depth, " levels");
        if (event == Event::object_start) keys.emplace_back();
        if (event == Event::object_end) keys.pop_back();
        if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second &&
            problem.empty())
            problem = "the key \"" + parsed.get<std::string>() + "\" stands twice";
        return problem.empty();
    };
    if (text.find('\0') != std::string_view::npos)  // the parser would take it for the end
        throw Error(where + ": not valid JSON: it holds a NUL", ErrorKind::bad_input);
    // A scan first: nlohmann recurses on destruction, so depth is bounded before parsing.
    int depth = 0;
    bool in_string = false, escaped = false;
    for (const char c : text) {
        if (in_string) {
            if (escaped)
                escaped = false;
            else if (c == '\\')
                escaped = true;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth)
                throw Error(text_of(where, ": JSON nested deeper than ", max_depth, " levels"),
                            ErrorKind::bad_input);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    Json j;
    try {
        j = Json::parse(text.begin(), text.end(), watch);
    } catch (const Json::exception& e) {
        std::string what = e.what();
        if (const auto p = what.find("] "); p != std::string::npos) what.erase(0, p + 2);
        throw Error(where + ": not valid JSON: " + what, ErrorKind::bad_input);
    }
    if (!problem.empty()) throw Error(where + ": bad JSON: " + problem, ErrorKind::bad_input);
    return j;
}

Json read_json(const std::string& path, std::int64_t limit) {
    return parse_json(read_file(path, limit), path);
}

std::string to_text(const Json& j, int indent) {
    return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fovea
