#include "fovea/tasks/encoder_sizes.h"

#include "fovea/models/text_encoder.h"
#include "fovea/tasks/run_settings.h"

namespace fovea {

void check_encoder_sizes(Settings& settings, const std::string& model) {
    const std::string known = " " + std::string(text_encoder_named(model).sizes) + " ";
    for (const char* size : {"layers", "d-model", "ffn", "heads", "hidden"})
        if (known.find(" " + std::string(size) + " ") == std::string::npos)
            leave_out(settings, {&size, 1}, "with --model " + model + ", whose sizes are" + known);
}

}  // namespace fovea
