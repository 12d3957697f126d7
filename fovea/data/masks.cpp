#include "fovea/data/masks.h"

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"

namespace fovea {
namespace {

constexpr const char* picture_folders[] = {"images", "pictures", "imgs", "photos", "image"};
constexpr const char* mask_folders[] = {"masks", "labels", "annotations", "mask", "label"};

bool holds_pictures(const std::string& folder) {
    const std::vector<std::string> names = list_folder(folder);
    return std::any_of(names.begin(), names.end(), has_picture_name);
}

// With pictures in it: COCO has an annotations/ of JSON files beside images/.
std::optional<std::string> folder_among(const std::string& path,
                                        std::span<const char* const> names) {
    for (const char* name : names)
        if (const std::string inner = join_path(path, name);
            is_folder(inner) && holds_pictures(inner))
            return inner;
    return {};
}

struct TwoFolders {
    std::string pictures, masks;
};

std::optional<TwoFolders> two_folders_in(const std::string& path) {
    const auto pictures = folder_among(path, picture_folders);
    const auto masks = folder_among(path, mask_folders);
    if (!pictures || !masks) return {};
    return TwoFolders{*pictures, *masks};
}

std::string stem_of(const std::string& name) { return name.substr(0, name.find_last_of('.')); }

// Name without the ending -> path.
std::map<std::string, std::string> pictures_by_name(const std::string& folder) {
    std::map<std::string, std::string> found;
    for (const std::string& name : list_folder(folder)) {
        if (!has_picture_name(name)) continue;
        const auto [at, fresh] = found.emplace(stem_of(name), join_path(folder, name));
        if (!fresh)
            fail_with(ErrorKind::bad_input, "give one of them another name", folder, ": \"",
                      base_name(at->second), "\" and \"", name, "\" have the same name");
    }
    return found;
}

const std::string& partner(const std::map<std::string, std::string>& all, const std::string& name,
                           const std::string& folder, const std::string& what) {
    const auto found = all.find(name);
    if (found == all.end())
        fail_with(ErrorKind::bad_input,
                  "a picture and its mask have the same name but for the ending", folder,
                  ": has no ", what, " \"", name, "\"");
    return found->second;
}

void read_two_folders(const TwoFolders& f, std::vector<MaskedPicture>& to) {
    const auto pictures = pictures_by_name(f.pictures), masks = pictures_by_name(f.masks);
    for (const auto& [name, path] : pictures)
        to.push_back({path, partner(masks, name, f.masks, "mask")});
}

// Names, one a line, of pictures in the folders beside the list.
void read_name_list(const std::string& path, const TwoFolders& f, std::vector<MaskedPicture>& to) {
    const auto pictures = pictures_by_name(f.pictures), masks = pictures_by_name(f.masks);
    LineReader lines(path);
    for (std::string line; lines.next(line);) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (line.empty()) continue;
        const std::string name = has_picture_name(line) ? stem_of(line) : line;
        to.push_back({partner(pictures, name, f.pictures, "picture"),
                      partner(masks, name, f.masks, "mask")});
    }
}

constexpr const char* names_of_pictures[] = {"picture", "image", "photo", "path", "file"};
constexpr const char* names_of_masks[] = {"mask", "masks", "label", "annotation"};

std::size_t named_column(const Columns& columns, const std::string& path, const std::string& key,
                         std::span<const char* const> names) {
    if (!key.empty()) return column_of(columns, path, key);
    for (std::size_t i = 0; i < columns.names.size(); ++i)
        if (std::find(names.begin(), names.end(), plain_name(columns.names[i])) != names.end())
            return i;
    fail_with(ErrorKind::bad_input, "name the columns: --picture and --mask", path,
              ": no column is called ", names[0], "; there are ", list_of_columns(columns));
}

void read_mask_table(const std::string& path, const MaskedFiles& files,
                     std::vector<MaskedPicture>& to) {
    RecordFiles table;
    table.paths = {path};
    table.needs_columns = true;
    const std::string folder = parent_path(path);
    const auto place = [&](const std::string& p) {
        return p.starts_with('/') ? p : join_path(folder, p);
    };
    for (const std::string& key : {files.picture_key, files.mask_key})
        if (!key.empty()) table.keys.push_back(key);
    table.keys.insert(table.keys.end(), std::begin(names_of_pictures), std::end(names_of_pictures));
    table.keys.insert(table.keys.end(), std::begin(names_of_masks), std::end(names_of_masks));
    for_each_record(table, [&](const Columns& columns, Record&& r) {
        const std::size_t picture =
            named_column(columns, path, files.picture_key, names_of_pictures);
        const std::size_t mask = named_column(columns, path, files.mask_key, names_of_masks);
        to.push_back({place(r.fields.at(picture)), place(r.fields.at(mask))});
        return true;
    });
}

void read_masked_path(const std::string& path, const MaskedFiles& files,
                      std::vector<MaskedPicture>& to) {
    const std::size_t comma = path.find(',');
    if (comma != std::string::npos && !file_exists(path))
        return read_two_folders({path.substr(0, comma), path.substr(comma + 1)}, to);
    if (!file_exists(path))
        throw Error(path + ": there is no such file or folder", ErrorKind::not_found);
    if (is_folder(path)) {
        const auto inside = two_folders_in(path);
        if (!inside)
            fail_with(ErrorKind::bad_input,
                      "a folder with images/ and masks/ in it, or two folders: images,masks", path,
                      ": holds no folder of pictures beside one of masks");
        return read_two_folders(*inside, to);
    }
    const auto beside = two_folders_in(parent_path(path));
    if (path.ends_with(".txt") && beside) return read_name_list(path, *beside, to);
    read_mask_table(path, files, to);
}

}  // namespace

bool is_masked_folder(const std::string& path) {
    return is_folder(path) && two_folders_in(path).has_value();
}

std::vector<MaskedPicture> read_masked(const MaskedFiles& files) {
    std::vector<MaskedPicture> all;
    for (const std::string& path : files.paths) {
        const std::size_t before = all.size();
        read_masked_path(path, files, all);
        expect_input(all.size() > before, path, ": holds no picture");
    }
    if (files.limit > 0 && static_cast<std::int64_t>(all.size()) > files.limit)
        all.resize(static_cast<std::size_t>(files.limit));
    return all;
}

MaskValues mask_values_of(const std::map<int, std::int64_t>& seen, const std::string& where) {
    if (seen.size() > 64)
        fail_with(ErrorKind::bad_input,
                  "a mask is a PNG with a number for each thing, not a photo and not a JPEG", where,
                  ": the masks have ", seen.size(), " different values");
    MaskValues v;
    v.has_ignored = seen.size() > 2 && seen.contains(255) && seen.contains(1);
    for (const auto& [value, count] : seen)
        if (!v.has_ignored || value != 255) v.values.push_back(static_cast<std::uint8_t>(value));
    if (v.values.size() < 2)
        fail_with(ErrorKind::bad_input, "pixels of the thing to be found are 255 (or 1), others 0",
                  where, ": all pixels of all masks have the value ",
                  v.values.empty() ? 255 : int{v.values[0]}, ", so there is nothing to tell apart");
    return v;
}

std::vector<std::uint8_t> MaskValues::labels_of(const Picture& mask,
                                                const std::string& where) const {
    std::vector<int> label(256, -1);
    if (has_ignored) label[255] = ignored;
    for (std::size_t i = 0; i < values.size(); ++i) label[values[i]] = static_cast<int>(i);
    std::vector<std::uint8_t> out(mask.pixels.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const int found = label[mask.pixels[i]];
        if (found < 0)
            fail_with(ErrorKind::bad_input, "masks must use the values of those that were learned",
                      where, ": has a pixel of the value ", int{mask.pixels[i]},
                      ", which no label has");
        out[i] = static_cast<std::uint8_t>(found);
    }
    return out;
}

Picture MaskValues::mask_of(const std::vector<std::uint8_t>& labels, std::uint32_t height,
                            std::uint32_t width) const {
    Picture p = blank_picture(height, width, 1, "mask");
    for (std::size_t i = 0; i < labels.size(); ++i)
        p.pixels[i] = labels[i] < values.size() ? values[labels[i]] : ignored;
    return p;
}

Picture read_mask(const std::string& path) {
    const Picture p = read_picture(path, {.channels = 0, .indices = true});
    if (p.channels == 1) return p;
    // Grey saved as colours: all channels alike.
    Picture one = blank_picture(p.height, p.width, 1, path);
    for (std::size_t i = 0; i < one.pixels.size(); ++i) {
        const std::uint8_t* from = p.pixels.data() + i * p.channels;
        for (std::uint32_t c = 1; c < std::min(p.channels, 3u) && p.channels != 2; ++c)
            if (from[c] != from[0])
                fail_with(ErrorKind::bad_input,
                          "save masks as grey or palette PNG: a number for each thing", path,
                          ": is a picture of colours, not a mask");
        one.pixels[i] = from[0];
    }
    return one;
}

LoadedMask load_masked(const MaskedPicture& files, int channels) {
    LoadedMask m{read_picture(files.picture, {.channels = channels}), read_mask(files.mask)};
    if (m.picture.height != m.mask.height || m.picture.width != m.mask.width)
        fail_with(ErrorKind::bad_input, "a mask says of each pixel of its picture what it shows",
                  files.mask, ": is ", m.mask.width, " x ", m.mask.height, " but its picture ",
                  files.picture, " is ", m.picture.width, " x ", m.picture.height);
    return m;
}

std::vector<std::uint8_t> otsu_mask(const Picture& picture) {
    const Picture grey = with_channels(picture, 1);
    double counts[256] = {}, all = 0, weighted = 0;
    for (const std::uint8_t v : grey.pixels) ++counts[v];
    for (int v = 0; v < 256; ++v) {
        all += counts[v];
        weighted += v * counts[v];
    }
    double below = 0, sum = 0, best = -1;
    int threshold = 0;
    for (int v = 0; v < 255; ++v) {  // the variance between both classes is highest
        below += counts[v];
        sum += v * counts[v];
        if (below == 0 || below == all) continue;
        const double difference = sum / below - (weighted - sum) / (all - below);
        const double between = below * (all - below) * difference * difference;
        if (between > best) {
            best = between;
            threshold = v;
        }
    }
    std::vector<std::uint8_t> mask(grey.pixels.size());
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = grey.pixels[i] > threshold;
    return mask;
}

}  // namespace fovea
