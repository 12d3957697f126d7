#include "fovea/infer/stop_strings.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// How many last bytes of the text are the beginning of `stop`, but not all of it.
std::size_t begun(const std::string& text, const std::string& stop) {
    for (std::size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
        if (text.compare(text.size() - n, n, stop, 0, n) == 0) return n;
    return 0;
}

}  // namespace

StoppableText::StoppableText(const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                             std::span<const std::string> stops)
    : decoder_(tokenizer), stops_(stops) {
    for (const std::string& stop : stops_)
        if (stop.empty())
            fail_with(ErrorKind::usage, "leave it out",
                      "a stop string is empty: every text has it");
    for (const TokenId id : prompt) decoder_.push(id);
}

std::string StoppableText::push(TokenId token) {
    return stopped() ? std::string() : take(decoder_.push(token));
}

std::string StoppableText::take(std::string fresh) {
    held_ += fresh;
    std::size_t end = held_.size();
    for (const std::string& stop : stops_)
        if (const std::size_t at = held_.find(stop); at < end) {
            end = at;
            stopped_by_ = stop;
        }
    if (stopped()) {
        held_.resize(end);
        return std::exchange(held_, {});
    }
    std::size_t waits = 0;
    for (const std::string& stop : stops_) waits = std::max(waits, begun(held_, stop));
    std::string certain = held_.substr(0, held_.size() - waits);
    held_.erase(0, certain.size());
    return certain;
}

std::string StoppableText::finish() {
    if (stopped()) return {};
    std::string rest = take(decoder_.finish());
    return rest + std::exchange(held_, {});
}

}  // namespace fovea
