#include "fovea/tasks/image_data.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/tasks/bad_records.h"

namespace fovea {
namespace {

// Of the first pictures: the shortest sides, and whether there is any colour.
struct FirstLook {
    int height = 8192, width = 8192, channels = 1;
    bool one_size = true;
};

// Bad ones are told of where all are read.
FirstLook first_look(const std::vector<LabelledText>& records, std::int64_t skip_bad) {
    constexpr std::size_t looked_at = 16;
    const PictureReader reader;
    FirstLook look;
    PassOver pass_over(skip_bad, {});
    const std::size_t step = std::max<std::size_t>(1, records.size() / looked_at);
    bool first = true;
    for (std::size_t i = 0; i < records.size(); i += step) try {
            const Picture p = reader.read(std::span(records[i].texts).first(1), 0);
            const int height = static_cast<int>(p.height), width = static_cast<int>(p.width);
            if (!first && (height != look.height || width != look.width)) look.one_size = false;
            look.height = std::min(look.height, height);
            look.width = std::min(look.width, width);
            if (p.channels >= 3) look.channels = 3;
            first = false;
        } catch (const Error& error) {
            pass_over(error);
        }
    return look;
}

}  // namespace

LabelledPictures as_pictures(const LabelledFiles& files) {
    return {.paths = files.paths,
            .picture_keys = files.text_keys,
            .label_key = files.label_key,
            .skip_bad = files.skip_bad,
            .limit = files.limit,
            .keep_messages = files.keep_messages};
}

ImageData::ImageData() {
    labelled.reader = [](const LabelledFiles& files, Problems* problems) {
        return read_labelled_pictures(as_pictures(files), problems);
    };
    labelled.content = [reader = reader_](const LabelledText& t) {
        return reader->content_hash(t.texts);
    };
}

void ImageData::describe(Settings& s) {
    s.add("picture", labelled.text_keys,
          "column of a picture's path (again for more, whose channels are joined)",
          {.group = "data", .otherwise = "those that hold paths of pictures"});
    s.add("label", labelled.label_key, "column of the label",
          {.group = "data", .common = true, .otherwise = "guessed"});
    s.add("unknown-label", labelled.unknown, "a label of the dev set that training has not",
          {.group = "data", .choices = {"error", "skip"}});
}

void ImageSizes::describe(Settings& s) {
    std::vector<std::string> names{"auto"};
    for (const PictureModelEntry& e : picture_models()) names.emplace_back(e.model_type);
    s.add(
        "attention", attention,
        "timesformer: a patch sees its place in all frames and then its frame, all of all frames, "
        "or its frame alone",
        {.group = "model", .choices = {"divided", "joint", "space"}});
    s.add("model", model, "what looks at the pictures; auto: timesformer for clips, else vit",
          {.group = "model", .common = true, .choices = names});
    s.add("layers", layers, "blocks", {.group = "model", .min = 1, .max = 512, .otherwise = "6"});
    s.add("d-model", width, "width of a row",
          {.group = "model", .min = 1, .max = 65536, .otherwise = "64"});
    s.add("heads", heads, "attention heads",
          {.group = "model", .min = 1, .otherwise = "d-model / 16"});
    s.add("ffn", ffn, "inner width of a block",
          {.group = "model", .min = 1, .otherwise = "4 d-model"});
    s.add("image-size", image_size, "pictures are resized to so many pixels a side",
          {.group = "model",
           .common = true,
           .min = 4,
           .max = 8192,
           .otherwise = "their own size up to 64"});
    s.add("patch", patch, "pixels of a patch's side",
          {.group = "model",
           .common = true,
           .min = 1,
           .max = 1024,
           .otherwise = "4; 8 from 48 pixels on, 16 from 160"});
    s.add(
        "stem", stem,
        "how patches become rows: patch, by one linear map; convolution, by convolutions of stride "
        "2 (better from few pictures)",
        {.group = "model", .common = true, .choices = {"patch", "convolution"}});
    s.add("channels", channels, "1: grey; 3: colours",
          {.group = "model", .min = 1, .max = 3, .otherwise = "as the pictures have"});
    s.add("dropout", dropout, "of rows and attention",
          {.group = "model", .min = 0, .max = 1, .below_max = true});
}

PictureModelChoice ImageSizes::settle(const std::vector<LabelledText>& records,
                                      std::int64_t skip_bad, const Say& say) {
    const std::size_t pictures = records[0].texts.size();
    if (model == "auto") model = is_folder(records[0].path) ? "timesformer" : "vit";
    if (channels == 2)
        throw Error("--channels is 2, but 1 (grey) and 3 (colours) can be", ErrorKind::usage);
    if (stem != "patch" && model == "timesformer")
        refuse_without_effect("stem", "with --model timesformer", "it belongs to vit and deit");
    const FirstLook look = first_look(records, skip_bad);
    PictureModelChoice c;
    if (layers) c.layers = *layers;
    if (width) c.width = *width;
    c.heads = heads.value_or(std::max(1, c.width / 16));
    c.ffn = ffn.value_or(4 * c.width);
    c.dropout = dropout;
    c.stem = stem;
    c.pictures = static_cast<int>(pictures);
    c.channels = channels.value_or(look.channels) * c.pictures;
    c.attention = attention;
    const int high = image_size.value_or(std::min(look.height, 64)),
              wide = image_size.value_or(std::min(look.width, 64));
    const int shorter = std::min(high, wide);
    c.patch = patch.value_or(shorter >= 160 ? 16 : shorter >= 48 ? 8 : 4);
    // Chosen sizes must fit (the model says so); others are made to.
    c.height = image_size ? high : std::max(c.patch, high / c.patch * c.patch);
    c.image_width = image_size ? wide : std::max(c.patch, wide / c.patch * c.patch);
    if (!image_size && (!look.one_size || c.height != look.height || c.image_width != look.width))
        say(fmt::format("data: pictures are resized to {} × {} pixels   change with --image-size",
                        c.image_width, c.height));
    return c;
}

}  // namespace fovea
