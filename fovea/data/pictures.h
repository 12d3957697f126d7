#pragma once
// Labelled pictures, as labelled texts (labelled_texts.h) whose text is a picture's name: what
// holds out, counts and refuses labels is one for both. A name is the path of a file, or FILE#17:
// entry 17 (from 0) of an IDX file. A case may have several pictures (modalities, stains), whose
// channels are joined. They come from
//   a folder for each class  photos/cat/1.png      (several such trees: "t1/,t2/", equal names),
//                            or photos/wave/clip-1/01.png: the frames of a clip are one record
//   a table                  TSV, CSV, JSON lines of paths and label; paths are seen from its
//   folder IDX files                images, with the labels beside them (train-images-… ,
//   train-labels-…),
//                            or "images,labels"; or a folder that holds train-images-…
// Not thread-safe: one reader belongs to one thread.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/labelled_texts.h"
#include "fovea/io/idx.h"
#include "fovea/io/picture.h"

namespace fovea {

struct LabelledPictures {
    std::vector<std::string> paths;
    std::vector<std::string> picture_keys = {};  // columns of a table; empty: those that hold paths
    std::string label_key = {};
    std::int64_t skip_bad = 0;
    std::int64_t limit = 0;  // only the first so many; 0: all
    int keep_messages = 5;
};

// Files that are not there are bad lines; whether they hold pictures is seen when they are read.
std::vector<LabelledText> read_labelled_pictures(const LabelledPictures& files,
                                                 Problems* problems = nullptr);

// Whether it is one of the above rather than texts, and why: "it has a folder of pictures for each
// label"; "" where it is not.
std::string holds_labelled_pictures(const std::string& path);

// Names of the pictures that a path stands for: those of a folder, of an IDX file, or itself.
std::vector<std::string> picture_names(const std::string& path);

// Reads pictures by name. IDX files stay open: they are read once.
// Thread-safety: any number of threads may use one.
class PictureReader {
public:
    // Each with 1 or 3 channels, or as it is (0), their channels joined; they must be of one size.
    Picture read(std::span<const std::string> names, int channels) const;
    // Of what the files hold: the same picture under two names has one.
    std::uint64_t content_hash(std::span<const std::string> names) const;

private:
    Picture read_one(const std::string& name, int channels) const;
    std::optional<Picture> idx_entry(
        const std::string& name) const;  // nothing: it is a file's name
    std::shared_ptr<const IdxFile> idx(const std::string& path) const;

    mutable std::mutex mutex_;
    mutable std::map<std::string, std::shared_ptr<const IdxFile>> files_;
};

}  // namespace fovea
