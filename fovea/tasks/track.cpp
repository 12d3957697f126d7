#include "fovea/tasks/track.h"

#include <algorithm>
#include <map>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/pictures.h"
#include "fovea/tasks/segment_look.h"

namespace fovea {
namespace {

std::vector<std::string> pictures_in(const std::string& folder) {
    return is_folder(folder) ? picture_names(folder) : std::vector<std::string>{};
}

std::string first_there(const std::string& folder, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const std::string path = join_path(folder, name); file_exists(path)) return path;
    return "";
}

bool is_track_sequence(const std::string& folder) {
    return !first_there(folder, {"frames", "img1"}).empty() &&
           !first_there(folder, {"truth.txt", "gt/gt.txt", "ids"}).empty();
}

// Boxes around the pixels of each value but 0.
std::vector<TrackLine> truth_of_ids(const std::vector<std::string>& masks) {
    std::vector<TrackLine> truth;
    for (std::size_t f = 0; f < masks.size(); ++f) {
        const Picture ids = read_mask(masks[f]);
        std::map<int, TrackLine> boxes;
        for (std::uint32_t y = 0; y < ids.height; ++y)
            for (std::uint32_t x = 0; x < ids.width; ++x) {
                const int id = *ids.at(y, x);
                if (id == 0) continue;
                TrackLine& t = boxes
                                   .try_emplace(id, TrackLine{static_cast<std::int64_t>(f), id,
                                                              double(x), double(y), 1, 1})
                                   .first->second;
                const double right = std::max(t.left + t.width, x + 1.0);
                t.left = std::min(t.left, double(x));
                t.width = right - t.left;
                t.height = y + 1.0 - t.top;
            }
        for (const auto& [id, box] : boxes) truth.push_back(box);
    }
    return truth;
}

TrackSequence read_sequence(const std::string& folder) {
    TrackSequence s;
    s.frames = pictures_in(first_there(folder, {"frames", "img1"}));
    expect_input(!s.frames.empty(), folder, ": its folder of frames holds no picture");
    s.masks = pictures_in(first_there(folder, {"masks"}));
    const std::string text = first_there(folder, {"truth.txt", "gt/gt.txt"});
    const std::vector<std::string> ids = pictures_in(first_there(folder, {"ids"}));
    s.truth = text.empty() ? truth_of_ids(ids) : read_mot_text(text);
    const auto check = [&](const char* what, std::size_t count) {
        if (count && count != s.frames.size())
            fail_with(ErrorKind::bad_input, "there is one for each frame", folder, ": has ", count,
                      " ", what, ", but ", s.frames.size(), " frames");
    };
    check("masks", s.masks.size());
    check("masks of ids", ids.size());
    for (const TrackLine& t : s.truth)
        if (t.frame >= static_cast<std::int64_t>(s.frames.size()))
            fail_with(ErrorKind::bad_input, "frames are counted from 1", text, ": names frame ",
                      t.frame + 1, ", but there are ", s.frames.size());
    return s;
}

std::vector<std::uint8_t> labels_in_mask(const std::string& name) {
    std::vector<std::uint8_t> labels = read_mask(name).pixels;
    for (std::uint8_t& v : labels) v = v ? 1 : 0;
    return labels;
}

TrackingCounts counts_of(const TrackSequence& s, const std::vector<TrackedFrame>& tracked) {
    std::vector<std::vector<TrackBox>> truth(s.frames.size());
    for (const TrackLine& t : s.truth)
        truth[static_cast<std::size_t>(t.frame)].push_back(
            {t.track, t.left, t.top, t.width, t.height});
    TrackingScorer scorer;
    for (std::size_t f = 0; f < tracked.size(); ++f) {
        std::vector<TrackBox> found;
        for (const SeenThing& t : tracked[f].things) found.push_back(t.box);
        scorer.add(truth[f], found);
    }
    return scorer.counts();
}

}  // namespace

std::vector<TrackedFrame> track(const SegmentModel& model, std::size_t frames,
                                const std::function<TrackFrame(std::size_t)>& frame,
                                const TrackOptions& options, const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    TrackLinker linker(options);
    std::vector<TrackedFrame> out;
    for (std::size_t f = 0; f < frames; ++f) {
        if (control.stop && control.stop->load()) break;
        TrackFrame own = frame(f);
        const SegmentLook look(model, own.picture);
        if (own.labels.empty()) own.labels = look.labels();
        TrackedFrame& to = out.emplace_back();
        to.components = connected_components(own.labels, own.picture.height, own.picture.width,
                                             options.least_area);
        const auto features =
            options.feature > 0 ? look.pooled(to.components) : std::vector<std::vector<float>>();
        for (std::size_t k = 0; k < to.components.all.size(); ++k) {
            const Component& c = to.components.all[k];
            SeenThing& t = to.things.emplace_back();
            t.box = {0, double(c.left), double(c.top), double(c.width), double(c.height)};
            t.centre_y = c.centre_y;
            t.centre_x = c.centre_x;
            t.area = c.area;
            t.label = c.label;
            if (!features.empty()) t.features = features[k];
        }
        to.things = linker.next(std::move(to.things));
        if (control.progress)
            control.progress(static_cast<std::int64_t>(f + 1), static_cast<std::int64_t>(frames));
    }
    return out;
}

std::vector<TrackLine> lines_of(const std::vector<TrackedFrame>& tracked) {
    std::vector<TrackLine> lines;
    for (std::size_t f = 0; f < tracked.size(); ++f)
        for (const SeenThing& t : tracked[f].things)
            lines.push_back({static_cast<std::int64_t>(f), t.box.id, t.box.x, t.box.y, t.box.width,
                             t.box.height});
    return lines;
}

Picture draw_tracks(const Picture& picture, const TrackedFrame& tracked) {
    Picture out = with_channels(picture, 3);
    const Components& c = tracked.components;
    for (std::size_t p = 0; p < c.of_pixel.size(); ++p) {
        if (c.of_pixel[p] < 0) continue;
        // Colours of tracks that are born one after the other differ: steps of the golden section.
        const auto id = static_cast<std::uint64_t>(
            tracked.things[static_cast<std::size_t>(c.of_pixel[p])].box.id);
        const std::uint64_t turn = id * 0x9e3779b97f4a7c15u;
        for (int k = 0; k < 3; ++k) {
            const auto colour = static_cast<int>(64 + ((turn >> (20 + 14 * k)) & 0x7f) +
                                                 ((turn >> (60 - k)) & 1) * 64);
            std::uint8_t& v = out.pixels[3 * p + static_cast<std::size_t>(k)];
            v = static_cast<std::uint8_t>((v + 2 * std::min(colour, 255)) / 3);
        }
    }
    return out;
}

bool holds_tracks(const std::string& folder) {
    if (!is_folder(folder)) return false;
    if (is_track_sequence(folder)) return true;
    const std::vector<std::string> names = list_folder(folder);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return is_track_sequence(join_path(folder, name));
    });
}

std::vector<TrackSequence> read_track_sequences(const std::string& folder) {
    if (is_track_sequence(folder)) return {read_sequence(folder)};
    std::vector<TrackSequence> all;
    for (const std::string& name : list_folder(folder))
        if (const std::string inner = join_path(folder, name); is_track_sequence(inner))
            all.push_back(read_sequence(inner));
    if (all.empty())
        fail_with(ErrorKind::bad_input,
                  "a sequence is a folder with frames/ and truth.txt (fovea data make tracks)",
                  folder, ": holds no sequence with true tracks");
    return all;
}

EvalReport evaluate_tracks(const SegmentModel& model, const RecordFiles& files,
                           const TrackEvaluation& how, const PredictControl& control) {
    EvalReport r;
    const Stopwatch clock;
    TrackingCounts counts;
    for (const std::string& path : files.paths)
        for (const TrackSequence& s : read_track_sequences(path)) {
            if (files.limit > 0 && r.records >= files.limit) break;
            if (how.own_masks && s.masks.empty())
                fail_with(ErrorKind::usage, "leave --own-masks out", path,
                          ": has no masks beside its frames");
            const auto frame = [&](std::size_t f) {
                TrackFrame own{read_picture(s.frames[f])};
                if (how.own_masks) own.labels = labels_in_mask(s.masks[f]);
                return own;
            };
            counts += counts_of(s, track(model, s.frames.size(), frame, how.options, control));
            ++r.records;
        }
    r.score = counts.score(0.5);
    r.seconds = clock.seconds();
    r.how = {{"masks", how.own_masks ? "of the data" : "of the model"},
             {"iou_weight", how.options.iou},
             {"centre_weight", how.options.centre},
             {"feature_weight", how.options.feature}};
    return r;
}

}  // namespace fovea
