#include "fovea/tasks/paint_settings.h"

namespace fovea {

void PaintSettings::describe_pictures(Settings& s) {
    SettingOptions out{.group = "pictures", .is_path = true, .about_run = false};
    out.otherwise = "shown in characters";
    s.add("pictures", pictures, "write pictures to this folder, as CLASS/NUMBER.png", out);
    out.otherwise = "none";
    s.add("sheet", sheet, "write all pictures side by side to this PNG file", out);
    s.add("training", training,
          "pictures the model learned from: the sheet shows those most like each sample", out);
    s.add("complete", complete, "a picture whose upper rows are given (again: one for each class)",
          out);
    s.add("given", given, "share of its rows that are given",
          {.group = "pictures", .min = 0, .max = 1, .about_run = false});
    s.add("nearest", nearest, "sheet: how many training pictures beside a sample",
          {.group = "pictures", .min = 1, .max = 20, .about_run = false});
}

void PaintSettings::describe(Settings& s) {
    s.add("samples", samples, "pictures of each class",
          {.group = "search", .common = true, .min = 1, .max = 1 << 20, .about_run = false});
    s.add("temperature", temperature, "of sampling",
          {.group = "search", .common = true, .min = 1e-6, .max = 1e6, .about_run = false});
    s.add("top-k", top_k, "sample among the k best grey levels; 0: all",
          {.group = "search", .min = 0, .about_run = false});
    s.add("top-p", top_p, "sample among the best of this mass",
          {.group = "search", .common = true, .min = 1e-9, .max = 1, .about_run = false});
    s.add("min-p", min_p, "sample among those at least this times as probable as the best",
          {.group = "search", .min = 0, .max = 1, .about_run = false});
    s.add("seed", seed, "start of random draws", {.group = "search", .hidden = true});
    s.add("batch", batch, "pictures painted together",
          {.group = "output", .min = 1, .max = 4096, .about_run = false});
    describe_pictures(s);
    for (const char* common : {"pictures", "sheet", "training", "complete"})
        s.find(common)->options.common = true;
    describe_eval(s);
}

void PaintSettings::describe_eval(Settings& s) {
    s.add("baseline", baseline,
          "eval: the margin over this; independent: each pixel by how often its levels stand there "
          "in --training",
          {.group = "output",
           .common = true,
           .choices = {"none", "independent"},
           .about_run = false});
    s.add("unknown-label", unknown, "eval: a label that the model has not",
          {.group = "data", .choices = {"error", "skip"}, .about_run = false});
    s.add("picture", picture_keys, "eval: column of a picture's path",
          {.group = "data", .otherwise = "guessed", .about_run = false});
    s.add("label", label_key, "eval: column of the label",
          {.group = "data", .otherwise = "guessed", .about_run = false});
}

SearchOptions PaintSettings::search() const {
    SearchOptions s;
    s.sample = true;
    s.temperature = temperature;
    s.top_k = top_k;
    s.top_p = top_p;
    s.min_p = min_p;
    s.seed = seed;
    s.check();
    return s;
}

}  // namespace fovea
