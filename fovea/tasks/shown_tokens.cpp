#include "fovea/tasks/shown_tokens.h"

namespace fovea {

std::string shown_token(const Tokenizer& tokenizer, std::int32_t id) {
    const std::int32_t one[] = {id};
    std::string text =
        tokenizer.is_special(id) ? tokenizer.id_to_token(id).value_or("?") : tokenizer.decode(one);
    while (!text.empty() && text[0] == ' ') text.erase(0, 1);
    return text.empty() ? "␣" : text;
}

std::vector<std::string> shown_tokens(const Tokenizer& tokenizer, const Ids& ids) {
    std::vector<std::string> out;
    for (const std::int32_t id : ids) out.push_back(shown_token(tokenizer, id));
    return out;
}

}  // namespace fovea
