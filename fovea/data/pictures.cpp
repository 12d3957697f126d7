#include "fovea/data/pictures.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"
#include "fovea/data/label_columns.h"

namespace fovea {
namespace {

struct PictureList {
    std::vector<LabelledText> records{};
    BadLines bad;
    std::int64_t limit;

    bool full() const { return limit > 0 && static_cast<std::int64_t>(records.size()) >= limit; }
};

std::vector<std::string> visible_names(const std::string& folder) {
    std::vector<std::string> names = list_folder(folder);
    std::erase_if(names, [](const std::string& n) { return n.starts_with("."); });
    return names;
}

bool has_picture(const std::string& folder) {
    const std::vector<std::string> names = visible_names(folder);
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& n) { return has_picture_name(n); });
}

// Folders of frames, one for each clip.
std::vector<std::string> clips_in(const std::string& folder) {
    std::vector<std::string> clips;
    for (const std::string& name : visible_names(folder)) {
        const std::string inner = join_path(folder, name);
        if (is_folder(inner) && has_picture(inner)) clips.push_back(inner);
    }
    return clips;
}

bool is_class_tree(const std::string& folder) {
    if (!is_folder(folder)) return false;
    const std::vector<std::string> names = visible_names(folder);
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) {
        const std::string inner = join_path(folder, n);
        return is_folder(inner) && (has_picture(inner) || !clips_in(inner).empty());
    });
}

// "a,b" as two, unless there is something by that very name.
std::vector<std::string> parts_of(const std::string& path) {
    if (file_exists(path)) return {path};
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(',', at), path.size());
        parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

// label/clip/frame.png: the frames of a clip in the order of their names are one record.
void read_clips(const std::string& label, const std::vector<std::string>& clips, PictureList& to) {
    for (const std::string& clip : clips) {
        if (to.full()) return;
        LabelledText t{picture_names(clip), {label}, clip, 1};
        const std::size_t wanted = to.records.empty() ? t.texts.size() : to.records[0].texts.size();
        if (t.texts.size() != wanted)
            to.bad.add(clip, 1,
                       text_of("has ", t.texts.size(), " frames, but the first clip has ", wanted));
        else
            to.records.push_back(std::move(t));
    }
}

void read_class_trees(const std::vector<std::string>& trees, PictureList& to) {
    for (const std::string& tree : trees)
        if (!is_class_tree(tree))
            fail_with(ErrorKind::bad_input, "a sub-folder of pictures (.png, .jpg) for each label",
                      tree, ": has no folder of pictures for each label");
    std::int64_t number = 0;
    for (const std::string& label : visible_names(trees[0])) {
        const std::string inner = join_path(trees[0], label);
        if (!is_folder(inner)) continue;
        if (const auto clips = clips_in(inner); trees.size() == 1 && !clips.empty()) {
            read_clips(label, clips, to);
            continue;
        }
        if (!has_picture(inner))
            fail_with(ErrorKind::bad_input,
                      "each sub-folder is a label: put pictures into it, or take it away", inner,
                      ": holds no picture");
        for (const std::string& name : visible_names(inner)) {
            if (!has_picture_name(name)) continue;
            if (to.full()) return;
            LabelledText t{{}, {label}, join_path(inner, name), ++number};
            for (const std::string& tree : trees)
                t.texts.push_back(join_path(join_path(tree, label), name));
            const auto missing = std::find_if_not(t.texts.begin(), t.texts.end(), file_exists);
            if (missing != t.texts.end())
                to.bad.add(t.path, 1, "there is no " + *missing + " beside it");
            else
                to.records.push_back(std::move(t));
        }
    }
}

// train-images-idx3-ubyte.gz -> train-labels-idx1-ubyte.gz, zipped or not.
std::string labels_beside(const std::string& images) {
    std::string name = base_name(images);
    const std::size_t at = name.find("images");
    if (at == std::string::npos) return "";
    name.replace(at, 6, "labels");
    if (const std::size_t kind = name.find("idx3"); kind != std::string::npos)
        name.replace(kind, 4, "idx1");
    const std::string path = join_path(parent_path(images), name);
    for (const std::string& p :
         {path, path + ".gz", path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path})
        if (file_exists(p)) return p;
    return "";
}

std::string entry_name(const std::string& path, std::int64_t i) {
    return path + "#" + std::to_string(i);
}

void read_idx_pair(const std::string& images, std::string labels, PictureList& to) {
    if (labels.empty()) labels = labels_beside(images);
    if (labels.empty())
        fail_with(ErrorKind::bad_input, "name both: images,labels", images,
                  ": no file of labels stands beside it");
    const IdxFile pictures = read_idx(images), numbers = read_idx(labels);
    expect_input(pictures.holds_pictures(), images, ": holds no pictures, but numbers of ",
                 pictures.sizes.size(), " dimensions");
    expect_input(numbers.sizes.size() == 1, labels, ": holds no labels, but numbers of ",
                 numbers.sizes.size(), " dimensions");
    expect_input(pictures.count() == numbers.count(), images, ": holds ", pictures.count(),
                 " pictures, but ", labels, " holds ", numbers.count(), " labels");
    for (std::int64_t i = 0; i < pictures.count() && !to.full(); ++i)
        to.records.push_back({{entry_name(images, i)},
                              {std::to_string(int{numbers.bytes[static_cast<std::size_t>(i)]})},
                              images,
                              i + 1});
}

// FOLDER/train-images-…; "" where there is none.
std::string idx_in_folder(const std::string& folder) {
    for (const std::string& name : visible_names(folder))
        if (name.starts_with("train-images") && is_idx(join_path(folder, name)))
            return join_path(folder, name);
    return "";
}

struct PictureColumns {
    std::vector<std::size_t> pictures;
    std::size_t label = 0;
};

bool names_picture(const std::string& field) {
    return has_picture_name(field) || field.find('#') != std::string::npos;
}

// Those whose rows, from that one on, all name pictures.
std::vector<std::size_t> columns_of_paths(const Columns& c, std::size_t first_row = 0) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < c.names.size(); ++i) {
        bool all = c.sample.size() > first_row;
        for (std::size_t r = first_row; r < c.sample.size(); ++r)
            all = all && i < c.sample[r].size() && names_picture(c.sample[r][i]);
        if (all) found.push_back(i);
    }
    return found;
}

// A row that names no picture above rows that do names the columns, whatever its words are.
HeaderRow header_above_pictures(const std::string& path) {
    HeaderRow header = HeaderRow::automatic;
    if (!can_be_read_twice(path)) return header;
    RecordFiles table;
    table.paths = {path};
    table.look_ahead = 50;
    table.skip_bad = INT64_MAX;
    for_each_record(table, [&](const Columns& c, Record&&) {
        if (columns_of_paths(c).empty() && !columns_of_paths(c, 1).empty()) header = HeaderRow::yes;
        return false;
    });
    return header;
}

PictureColumns picture_columns(const Columns& c, const std::string& path,
                               const LabelledPictures& files) {
    PictureColumns found;
    for (const std::string& key : files.picture_keys)
        found.pictures.push_back(column_of(c, path, key));
    if (found.pictures.empty()) found.pictures = columns_of_paths(c);
    if (found.pictures.empty())
        fail_with(ErrorKind::bad_input,
                  "--picture COLUMN names it; there are " + list_of_columns(c), path,
                  ": no column holds paths of pictures in every row");
    const auto is_picture = [&](std::size_t i) {
        return std::find(found.pictures.begin(), found.pictures.end(), i) != found.pictures.end();
    };
    if (!files.label_key.empty()) {
        found.label = column_of(c, path, files.label_key);
        return found;
    }
    if (const auto named = named_label_column(c); named && !is_picture(*named)) {
        found.label = *named;
        return found;
    }
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < c.names.size(); ++i)
        if (!is_picture(i)) others.push_back(i);
    if (others.size() != 1)
        fail_with(ErrorKind::bad_input, "--label COLUMN names it; there are " + list_of_columns(c),
                  path, ": cannot tell which column is the label");
    found.label = others[0];
    return found;
}

std::string seen_from(const std::string& folder, const std::string& path) {
    return path.starts_with("/") ? path : join_path(folder, path);
}

void read_table(const std::string& path, const LabelledPictures& files, PictureList& to) {
    RecordFiles table;
    table.paths = {path};
    table.header = header_above_pictures(path);
    table.keys = files.picture_keys;
    if (!files.label_key.empty()) table.keys.push_back(files.label_key);
    table.needs_columns = true;
    std::optional<PictureColumns> columns;
    for_each_record(table, to.bad, [&](const Columns& c, Record&& r) {
        if (!columns) {
            columns = picture_columns(c, path, files);
            to.bad.problems.notes.push_back(path + ": label from " +
                                            describe_column(c, columns->label));
        }
        LabelledText t{{}, {}, r.path, r.line};
        for (const std::size_t i : columns->pictures)
            if (i < r.fields.size()) t.texts.push_back(seen_from(parent_path(path), r.fields[i]));
        const auto missing = std::find_if_not(
            t.texts.begin(), t.texts.end(),
            [](const std::string& name) { return file_exists(name.substr(0, name.find('#'))); });
        if (columns->label >= r.fields.size() || r.fields[columns->label].empty() ||
            t.texts.size() != columns->pictures.size())
            to.bad.add(r.path, r.line, "a picture or its label is missing");
        else if (missing != t.texts.end())
            to.bad.add(r.path, r.line, "there is no file " + *missing);
        else {
            t.labels = {r.fields[columns->label]};
            to.records.push_back(std::move(t));
        }
        return !to.full();
    });
}

void read_path(const std::string& path, const LabelledPictures& files, PictureList& to) {
    const std::vector<std::string> parts = parts_of(path);
    for (const std::string& part : parts)
        if (!file_exists(part))
            fail_with(ErrorKind::not_found, "is the name right?", part, ": there is no such file");
    if (is_idx(parts[0])) return read_idx_pair(parts[0], parts.size() > 1 ? parts[1] : "", to);
    if (!is_folder(parts[0])) return read_table(path, files, to);
    if (const std::string images = idx_in_folder(parts[0]); !images.empty())
        return read_idx_pair(images, "", to);
    read_class_trees(parts, to);
}

bool table_of_pictures(const std::string& path) {
    const RecordFormat format = format_by_name(path);
    if (format != RecordFormat::tsv && format != RecordFormat::csv && format != RecordFormat::jsonl)
        return false;
    bool found = false;
    RecordFiles table;
    table.paths = {path};
    table.header = header_above_pictures(path);
    table.look_ahead = 50;
    table.skip_bad = INT64_MAX;
    for_each_record(table, [&](const Columns& c, Record&&) {
        found = !columns_of_paths(c).empty() && c.names.size() > 1;
        return false;
    });
    return found;
}

}  // namespace

std::vector<LabelledText> read_labelled_pictures(const LabelledPictures& files,
                                                 Problems* problems) {
    PictureList list{.bad = BadLines(files.skip_bad, files.keep_messages), .limit = files.limit};
    for (const std::string& path : files.paths)
        if (!list.full()) read_path(path, files, list);
    expect_input(!list.records.empty(), files.paths.empty() ? "pictures" : files.paths[0],
                 ": holds no labelled picture");
    if (problems) *problems = std::move(list.bad.problems);
    return std::move(list.records);
}

std::string holds_labelled_pictures(const std::string& path) {
    const std::vector<std::string> parts = parts_of(path);
    if (is_folder(parts[0])) {
        if (!idx_in_folder(parts[0]).empty()) return "it holds pictures in IDX files";
        if (!is_class_tree(parts[0])) return "";
        const std::vector<std::string> labels = visible_names(parts[0]);
        const bool clips = std::any_of(labels.begin(), labels.end(), [&](const std::string& label) {
            const std::string inner = join_path(parts[0], label);
            return is_folder(inner) && !clips_in(inner).empty();
        });
        return clips ? "it has a folder of clips for each label"
                     : "it has a folder of pictures for each label";
    }
    if (!file_exists(parts[0])) return "";
    if (is_idx(parts[0])) return "pictures in an IDX file";
    return parts.size() == 1 && table_of_pictures(path) ? "paths of pictures and a label" : "";
}

std::vector<std::string> picture_names(const std::string& path) {
    std::vector<std::string> names;
    if (is_folder(path)) {
        for (const std::string& name : visible_names(path))
            if (has_picture_name(name)) names.push_back(join_path(path, name));
    } else if (is_idx(path)) {
        const std::int64_t count = read_idx(path).count();
        for (std::int64_t i = 0; i < count; ++i) names.push_back(entry_name(path, i));
    } else {
        names.push_back(path);
    }
    return names;
}

}  // namespace fovea
