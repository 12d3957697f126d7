#include "fovea/tasks/bad_records.h"

#include <exception>

#include "fovea/base/threads.h"

namespace fovea {

void PassOver::operator()(const Error& error) {
    if (++bad_ > most_) throw;
    if (bad_ <= 5 && say_) say_(text_of("passed over: ", error.what()));
}

std::vector<bool> readable(std::size_t count, const std::function<void(std::size_t)>& look,
                           PassOver pass_over) {
    std::vector<std::exception_ptr> wrong(count);
    parallel_for(static_cast<std::int64_t>(count), 1, [&](std::int64_t b, std::int64_t e) {
        for (auto i = static_cast<std::size_t>(b); i < static_cast<std::size_t>(e); ++i) try {
                look(i);
            } catch (const Error&) {
                wrong[i] = std::current_exception();
            }
    });
    std::vector<bool> kept(count, true);
    for (std::size_t i = 0; i < count; ++i) {
        if (!wrong[i]) continue;
        kept[i] = false;
        try {
            std::rethrow_exception(wrong[i]);
        } catch (const Error& error) {
            pass_over(error);
        }
    }
    return kept;
}

}  // namespace fovea
