#include "fovea/tasks/annotated_pictures.h"

namespace fovea {

void leave_out_settings_of_texts(Settings& s) {
    static constexpr const char* of_text[] = {"max-tokens", "vectors"};
    leave_out(s, of_text, "on pictures: --max-records says how many share a batch");
}

void settle_pictures(RunSettings& run, const Settings* settings, std::int64_t records,
                     std::int64_t epochs) {
    if (!settings || !settings->given("max-records")) run.batches.max_examples = records;
    run.batches.bucket = false;
    run.settle({.rate = run.from.empty() ? 1e-3 : 2e-4, .warmup = 300, .epochs = epochs});
}

void note_pictures(ModelFolder& folder, const std::vector<std::string>& contents,
                   std::size_t records, const RunSettings& run, const Json& size) {
    folder.about["data"] = {{"train", hash_text(record_hash(contents))},
                            {"records", records},
                            {"seed", run.options.seed},
                            {"size", size}};
    folder.about["train_file"] = base_name(run.train[0]);
}

}  // namespace fovea
