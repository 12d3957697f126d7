#include "fovea/data/made_tracks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/data/components.h"
#include "fovea/data/made_shapes.h"
#include "fovea/data/masks.h"
#include "fovea/io/png.h"

namespace fovea {
namespace {

constexpr std::uint32_t drawn_tracks = 0x7472636b;
constexpr double two_pi = 6.283185307179586;

// A thing that was cut out: pixels of the box around it, and which of them are its own.
struct Sprite {
    Picture picture;
    std::vector<bool> own;
};

// What frames are made of: things of one picture, and colours of its ground.
struct Material {
    std::vector<Sprite> sprites;
    std::vector<std::uint8_t> ground;  // three values a pixel
};

Material cut_out(const Picture& picture, const Picture& mask) {
    std::vector<std::uint8_t> labels;
    for (const std::uint8_t v : mask.pixels) labels.push_back(v ? 1 : 0);
    const Components c = connected_components(labels, mask.height, mask.width, 30);
    Material m;
    for (std::size_t k = 0; k < c.all.size(); ++k) {
        const Component& one = c.all[k];
        if (one.top == 0 || one.left == 0 || one.top + one.height == c.height ||
            one.left + one.width == c.width || one.area > 2500)
            continue;  // cut by a border, or several in one
        Sprite s;
        s.picture = blank_picture(one.height, one.width, 3, "tracks");
        for (std::uint32_t y = 0; y < one.height; ++y)
            for (std::uint32_t x = 0; x < one.width; ++x) {
                std::copy_n(picture.at(one.top + y, one.left + x), 3, s.picture.at(y, x));
                s.own.push_back(c.of_pixel[std::size_t{one.top + y} * c.width + one.left + x] ==
                                static_cast<std::int32_t>(k));
            }
        m.sprites.push_back(std::move(s));
    }
    for (std::size_t p = 0; p < labels.size(); ++p)
        if (labels[p] == 0)
            m.ground.insert(m.ground.end(),
                            picture.pixels.begin() + static_cast<std::ptrdiff_t>(3 * p),
                            picture.pixels.begin() + static_cast<std::ptrdiff_t>(3 * p + 3));
    return m;
}

// The first of the pictures, in an order that is drawn, that has things enough.
Material drawn_material(const MadeTracks& o, const std::vector<MaskedPicture>& records, Rng& rng) {
    constexpr std::size_t enough = 8;
    for (int tries = 0; tries < 200; ++tries) {
        Material m;
        if (records.empty()) {
            const ShapesPicture s =
                made_shapes({.size = 96, .kinds = 3, .seed = o.seed}, rng.below(1 << 20));
            m = cut_out(s.picture, s.mask);
            for (int more = 0; more < 12; ++more) {
                const ShapesPicture t =
                    made_shapes({.size = 96, .kinds = 3, .seed = o.seed}, rng.below(1 << 20));
                for (Sprite& sprite : cut_out(t.picture, t.mask).sprites)
                    m.sprites.push_back(std::move(sprite));
            }
        } else {
            const auto k =
                static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(records.size())));
            const LoadedMask l = load_masked(records[k], 3);
            m = cut_out(l.picture, l.mask);
        }
        if (m.sprites.size() >= enough && !m.ground.empty()) return m;
    }
    fail_with(ErrorKind::bad_input, "choose pictures with more things that do not touch the border",
              o.pictures, ": no picture has ", enough, " things to cut out");
}

struct Mover {
    const Sprite* sprite;
    double y, x, angle;  // of its upper left corner; where it goes
    int from, to;        // frames in which it is there
    bool there(int frame) const { return frame >= from && frame < to; }
};

// Whether boxes come nearer than two pixels: then they would be one component.
bool too_near(const Mover& a, double y, double x, const Mover& b) {
    const auto apart = [](double p, std::uint32_t own, double q, std::uint32_t other) {
        return p + own + 2 <= q || q + other + 2 <= p;
    };
    const Picture &s = a.sprite->picture, &t = b.sprite->picture;
    return !apart(y, s.height, b.y, t.height) && !apart(x, s.width, b.x, t.width);
}

class Crowd {
public:
    Crowd(const MadeTracks& o, const Material& m, Rng& rng) : o_(o), rng_(rng) {
        for (int k = 0; k < o.objects; ++k) {
            Mover one{&m.sprites[static_cast<std::size_t>(
                          rng.below(static_cast<std::int64_t>(m.sprites.size())))],
                      0,
                      0,
                      rng.uniform(0, two_pi),
                      0,
                      o.frames};
            const double life = rng.uniform();
            if (life < 0.1) one.from = 1 + static_cast<int>(rng.below(std::max(1, o.frames / 2)));
            if (life > 0.9)
                one.to = o.frames - static_cast<int>(rng.below(std::max(1, o.frames / 2)));
            for (int tries = 0; tries < 100; ++tries) {
                const double y = rng.uniform(0, o.size), x = rng.uniform(0, o.size);
                if (!fits(one, y, x)) continue;
                one.y = y;
                one.x = x;
                all_.push_back(one);
                break;
            }
        }
    }

    const std::vector<Mover>& all() const { return all_; }

    void move() {
        for (std::size_t k = 0; k < all_.size(); ++k) {
            Mover& m = all_[k];
            m.angle += 0.3 * rng_.normal();
            for (int tries = 0; tries < 8; ++tries) {
                const double y = m.y + o_.speed * std::sin(m.angle),
                             x = m.x + o_.speed * std::cos(m.angle);
                if (fits(m, y, x)) {
                    m.y = y;
                    m.x = x;
                    break;
                }
                m.angle = rng_.uniform(0, two_pi);
            }
        }
    }

private:
    bool fits(const Mover& m, double y, double x) const {
        const Picture& p = m.sprite->picture;
        if (y < 0 || x < 0 || y + p.height > o_.size || x + p.width > o_.size) return false;
        return std::none_of(all_.begin(), all_.end(), [&](const Mover& other) {
            return &other != &m && too_near(m, y, x, other);
        });
    }

    const MadeTracks& o_;
    Rng& rng_;
    std::vector<Mover> all_;
};

void put_frame(const Crowd& crowd, const Material& material, const MadeTracks& o, int frame,
               Rng& rng, MadeSequence& to) {
    Picture picture = blank_picture(o.size, o.size, 3, "tracks"),
            mask = blank_picture(o.size, o.size, 1, "tracks");
    const auto grounds = static_cast<std::int64_t>(material.ground.size() / 3);
    for (std::size_t p = 0; p < mask.pixels.size(); ++p)
        std::copy_n(material.ground.begin() + 3 * rng.below(grounds), 3,
                    picture.pixels.begin() + static_cast<std::ptrdiff_t>(3 * p));
    for (std::size_t k = 0; k < crowd.all().size(); ++k) {
        const Mover& m = crowd.all()[k];
        const bool missed = rng.uniform() < o.misses;
        if (!m.there(frame)) continue;
        const Picture& s = m.sprite->picture;
        const auto top = static_cast<std::uint32_t>(m.y), left = static_cast<std::uint32_t>(m.x);
        for (std::uint32_t y = 0; y < s.height; ++y)
            for (std::uint32_t x = 0; x < s.width; ++x) {
                if (!m.sprite->own[std::size_t{y} * s.width + x]) continue;
                std::copy_n(s.at(y, x), 3, picture.at(top + y, left + x));
                if (!missed) *mask.at(top + y, left + x) = 255;
            }
        to.truth.push_back({frame, static_cast<std::int64_t>(k) + 1, double(left), double(top),
                            double(s.width), double(s.height)});
    }
    to.frames.push_back(std::move(picture));
    to.masks.push_back(std::move(mask));
}

}  // namespace

MadeSequence made_tracks(const MadeTracks& o, std::int64_t i) {
    expect(o.size >= 64 && o.size <= 4096, "tracks: frames of ", o.size,
           " pixels but 64 to 4096 are known");
    expect(o.frames >= 1 && o.frames <= 10000 && o.objects >= 1 && o.objects <= 1000,
           "tracks: ", o.frames, " frames of ", o.objects, " things");
    Rng rng(o.seed, drawn_tracks);
    rng.seek(static_cast<std::uint64_t>(i) << 32);
    std::vector<MaskedPicture> records;
    if (!o.pictures.empty()) records = read_masked({.paths = {o.pictures}});
    const Material material = drawn_material(o, records, rng);
    Crowd crowd(o, material, rng);
    MadeSequence made;
    for (int frame = 0; frame < o.frames; ++frame) {
        if (frame > 0) crowd.move();
        put_frame(crowd, material, o, frame, rng, made);
    }
    return made;
}

void write_made_tracks(const MadeTracks& o, const std::string& folder) {
    for (std::int64_t i = 0; i < o.count; ++i) {
        const MadeSequence made = made_tracks(o, i);
        const std::string own = join_path(folder, fmt::format("{:04}", i));
        make_folders(join_path(own, "frames"));
        make_folders(join_path(own, "masks"));
        for (std::size_t f = 0; f < made.frames.size(); ++f) {
            const std::string name = fmt::format("{:06}.png", f + 1);
            write_png(join_path(own, "frames/" + name), made.frames[f]);
            write_png(join_path(own, "masks/" + name), made.masks[f]);
        }
        write_file_atomically(join_path(own, "truth.txt"), mot_text(made.truth));
    }
}

}  // namespace fovea
