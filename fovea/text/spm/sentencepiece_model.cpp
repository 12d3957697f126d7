#include "fovea/text/spm/sentencepiece_model.h"

#include <utf8proc.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

namespace {

constexpr std::int64_t model_limit = std::int64_t{256} << 20;
constexpr std::size_t piece_limit = std::size_t{1} << 24;
constexpr std::size_t piece_bytes_limit = 65535;

// Field numbers of sentencepiece_model.proto.
namespace model_field {
enum { pieces = 1, trainer = 2, normalizer = 3, denormalizer = 5 };
}
namespace piece_field {
enum { text = 1, score = 2, type = 3 };
}
namespace trainer_field {
enum {
    model_type = 3,
    vocab_size = 4,
    whitespace_as_suffix = 24,
    byte_fallback = 35,
    unk_id = 40,
    bos_id = 41,
    eos_id = 42,
    pad_id = 43,
    unk_surface = 44,
    unk_piece = 45,
    bos_piece = 46,
    eos_piece = 47,
    pad_piece = 48
};
}
namespace normalizer_field {
enum { name = 1, charsmap = 2, dummy_prefix = 3, remove_extra = 4, escape = 5 };
}

enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Walks the fields of one message. Positions in errors are those in the whole file.
class FieldReader {
public:
    FieldReader(std::string_view message, std::size_t begin, const std::string& where)
        : message_(message), begin_(begin), where_(where) {}

    bool next() {
        if (at_ == message_.size()) return false;
        field_at_ = at_;
        const std::uint64_t key = varint();
        const std::uint64_t number = key >> 3;
        check(number >= 1 && number <= 536870911, "field number ", number, " does not exist");
        number_ = static_cast<int>(number);
        switch (key & 7) {
            case 0:
                wire_ = Wire::varint;
                value_ = varint();
                break;
            case 1:
                wire_ = Wire::fixed64;
                payload_ = take(8);
                break;
            case 2: {
                wire_ = Wire::bytes;
                const std::uint64_t length = varint();
                check(length <= message_.size() - at_, "field ", number_, " claims ", length,
                      " bytes but ", message_.size() - at_, " are left");
                payload_ = take(length);
                break;
            }
            case 5:
                wire_ = Wire::fixed32;
                payload_ = take(4);
                break;
            case 3:
            case 4:
                check(false, "a group (wire type ", key & 7, "), which no .model file has");
                break;
            default:
                check(false, "wire type ", key & 7, " does not exist");
        }
        return true;
    }

    int number() const { return number_; }
    FieldReader message() const {
        return FieldReader(
            bytes(), begin_ + static_cast<std::size_t>(payload_.data() - message_.data()), where_);
    }
    std::string_view bytes() const {
        want(Wire::bytes, "bytes");
        return payload_;
    }
    std::string text() const {
        const std::string_view s = bytes();
        for (std::size_t i = 0; i < s.size();) {
            utf8proc_int32_t c = 0;
            const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data()) + i,
                                            static_cast<utf8proc_ssize_t>(s.size() - i), &c);
            check(n > 0, "the text of field ", number_, " is not UTF-8");
            i += static_cast<std::size_t>(n);
        }
        return std::string(s);
    }
    bool flag() const { return integer() != 0; }
    std::int64_t integer() const {
        want(Wire::varint, "a varint");
        return static_cast<std::int64_t>(value_);
    }
    int small_integer() const {
        const std::int64_t v = integer();
        check(v >= -1 && v < std::int64_t{1} << 31, "field ", number_, " is ", v,
              " but should be a 32-bit id");
        return static_cast<int>(v);
    }
    float number32() const {
        want(Wire::fixed32, "a float");
        float f = 0;
        std::memcpy(&f, payload_.data(), 4);
        return f;
    }
    template <class... Parts>
    void check(bool ok, const Parts&... parts) const {
        expect_input(ok, where_, ": byte ", begin_ + field_at_, ": ", parts...);
    }

private:
    void want(Wire wire, const char* what) const {
        check(wire_ == wire, "field ", number_, " has wire type ", static_cast<int>(wire_),
              " but should be ", what);
    }
    std::string_view take(std::size_t n) {
        check(n <= message_.size() - at_, "the file ends inside field ", number_);
        at_ += n;
        return message_.substr(at_ - n, n);
    }
    std::uint64_t varint() {
        std::uint64_t v = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            check(at_ < message_.size(), "the file ends inside a number");
            const auto b = static_cast<unsigned char>(message_[at_++]);
            check(shift < 63 || b <= 1, "a number of more than 64 bits");
            v |= std::uint64_t{b & 127u} << shift;
            if (b < 128) return v;
        }
        check(false, "a number of more than 10 bytes");
        return 0;
    }

    std::string_view message_;
    std::size_t begin_;
    const std::string& where_;
    std::size_t at_ = 0, field_at_ = 0;
    int number_ = 0;
    Wire wire_ = Wire::varint;
    std::uint64_t value_ = 0;
    std::string_view payload_;
};

SentencePiece read_piece(FieldReader fields) {
    SentencePiece piece;
    while (fields.next()) {
        switch (fields.number()) {
            case piece_field::text:
                piece.text = fields.text();
                break;
            case piece_field::score:
                piece.score = fields.number32();
                break;
            case piece_field::type: {
                const std::int64_t type = fields.integer();
                fields.check(type >= 1 && type <= 6, "piece type ", type, " does not exist");
                piece.type = static_cast<PieceType>(type);
                break;
            }
            default:
                break;
        }
    }
    fields.check(!piece.text.empty(), "a piece without text");
    fields.check(piece.text.size() <= piece_bytes_limit, "a piece of ", piece.text.size(),
                 " bytes; the limit is ", piece_bytes_limit);
    fields.check(std::isfinite(piece.score), "the score of a piece is ", piece.score);
    return piece;
}

void read_trainer(FieldReader fields, SentencePieceModel& m) {
    while (fields.next()) {
        switch (fields.number()) {
            case trainer_field::model_type: {
                const std::int64_t kind = fields.integer();
                fields.check(kind >= 1 && kind <= 4, "model type ", kind, " does not exist");
                m.kind = static_cast<SentencePieceKind>(kind);
                break;
            }
            case trainer_field::byte_fallback:
                m.byte_fallback = fields.flag();
                break;
            case trainer_field::whitespace_as_suffix:
                m.treat_whitespace_as_suffix = fields.flag();
                break;
            case trainer_field::unk_id:
                m.unk_id = fields.small_integer();
                break;
            case trainer_field::bos_id:
                m.bos_id = fields.small_integer();
                break;
            case trainer_field::eos_id:
                m.eos_id = fields.small_integer();
                break;
            case trainer_field::pad_id:
                m.pad_id = fields.small_integer();
                break;
            case trainer_field::unk_surface:
                m.unk_surface = fields.text();
                break;
            case trainer_field::unk_piece:
                m.unk_piece = fields.text();
                break;
            case trainer_field::bos_piece:
                m.bos_piece = fields.text();
                break;
            case trainer_field::eos_piece:
                m.eos_piece = fields.text();
                break;
            case trainer_field::pad_piece:
                m.pad_piece = fields.text();
                break;
            default:
                break;
        }
    }
}

void read_normalizer(FieldReader fields, SentencePieceNormalizer& n) {
    while (fields.next()) {
        switch (fields.number()) {
            case normalizer_field::name:
                n.name = fields.text();
                break;
            case normalizer_field::charsmap:
                n.precompiled_charsmap = fields.bytes();
                break;
            case normalizer_field::dummy_prefix:
                n.add_dummy_prefix = fields.flag();
                break;
            case normalizer_field::remove_extra:
                n.remove_extra_whitespaces = fields.flag();
                break;
            case normalizer_field::escape:
                n.escape_whitespaces = fields.flag();
                break;
            default:
                break;
        }
    }
}

std::string byte_piece(int b) {
    constexpr char hex[] = "0123456789ABCDEF";
    return std::string("<0x") + hex[b >> 4] + hex[b & 15] + ">";
}

// What the sentencepiece library itself refuses: no or two unknown pieces, pieces given twice,
// byte pieces that are not all there. Also finds the ids the way the library does: the control
// piece of that name, whatever the trainer was once asked for.
void check_pieces(SentencePieceModel& m, const std::string& where) {
    expect_input(!m.pieces.empty(), where, ": has no pieces; is it a SentencePiece .model file?");
    expect_input(m.pieces.size() <= piece_limit, where, ": ", m.pieces.size(),
                 " pieces; the limit is ", piece_limit);
    std::unordered_map<std::string_view, int> ids;
    ids.reserve(m.pieces.size());
    int unk = -1;
    int bytes = 0;
    for (std::size_t i = 0; i < m.pieces.size(); ++i) {
        const SentencePiece& p = m.pieces[i];
        const int id = static_cast<int>(i);
        const auto [first, is_new] = ids.emplace(p.text, id);
        expect_input(is_new, where, ": piece \"", p.text, "\" is there twice, as ids ",
                     first->second, " and ", id);
        if (p.type == PieceType::unknown) {
            expect_input(unk < 0, where, ": two unknown pieces, ids ", unk, " and ", id);
            unk = id;
        }
        if (p.type == PieceType::byte) {
            expect_input(m.byte_fallback, where, ": id ", id,
                         " is a byte piece although byte_fallback is off");
            ++bytes;
        }
    }
    expect_input(unk >= 0, where, ": no piece is of the type unknown");
    if (m.byte_fallback) {
        for (int b = 0; b < 256; ++b) {
            const auto found = ids.find(byte_piece(b));
            expect_input(
                found != ids.end() &&
                    m.pieces[static_cast<std::size_t>(found->second)].type == PieceType::byte,
                where, ": byte_fallback is on but the byte piece ", byte_piece(b), " is missing");
        }
        expect_input(bytes == 256, where, ": ", bytes, " byte pieces but there are 256 bytes");
    }
    const auto control = [&](const std::string& text) {
        const auto found = ids.find(text);
        if (found == ids.end()) return -1;
        return m.pieces[static_cast<std::size_t>(found->second)].type == PieceType::control
                   ? found->second
                   : -1;
    };
    m.unk_id = unk;
    m.unk_piece = m.pieces[static_cast<std::size_t>(unk)].text;
    m.bos_id = control(m.bos_piece);
    m.eos_id = control(m.eos_piece);
    m.pad_id = control(m.pad_piece);
}

}  // namespace

SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& where) {
    expect_input(!bytes.empty(), where, ": is empty but should be a SentencePiece .model file");
    SentencePieceModel m;
    FieldReader fields(bytes, 0, where);
    while (fields.next()) {
        switch (fields.number()) {
            case model_field::pieces:
                m.pieces.push_back(read_piece(fields.message()));
                break;
            case model_field::trainer:
                read_trainer(fields.message(), m);
                break;
            case model_field::normalizer:
                read_normalizer(fields.message(), m.normalizer);
                break;
            case model_field::denormalizer:
                m.has_denormalizer = true;
                read_normalizer(fields.message(), m.denormalizer);
                break;
            default:
                break;
        }
    }
    check_pieces(m, where);
    return m;
}

SentencePieceModel read_sentencepiece(const std::string& path) {
    return parse_sentencepiece(read_file(path, model_limit), path);
}

namespace {

// Appends fields to a message.
struct FieldWriter {
    std::string out;

    void varint(std::uint64_t v) {
        for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
        out += static_cast<char>(v);
    }
    void key(int number, Wire wire) {
        varint(static_cast<std::uint64_t>(number) << 3 | static_cast<unsigned>(wire));
    }
    void integer(int number, std::int64_t v) {
        key(number, Wire::varint);
        varint(static_cast<std::uint64_t>(v));
    }
    void bytes(int number, std::string_view v) {
        key(number, Wire::bytes);
        varint(v.size());
        out += v;
    }
    void number32(int number, float v) {
        key(number, Wire::fixed32);
        char raw[4];
        std::memcpy(raw, &v, 4);
        out.append(raw, 4);
    }
};

std::string written(const SentencePieceNormalizer& n) {
    FieldWriter w;
    w.bytes(normalizer_field::name, n.name);
    w.bytes(normalizer_field::charsmap, n.precompiled_charsmap);
    w.integer(normalizer_field::dummy_prefix, n.add_dummy_prefix);
    w.integer(normalizer_field::remove_extra, n.remove_extra_whitespaces);
    w.integer(normalizer_field::escape, n.escape_whitespaces);
    return w.out;
}

}  // namespace

std::string write_sentencepiece(const SentencePieceModel& m) {
    FieldWriter file;
    for (const SentencePiece& p : m.pieces) {
        FieldWriter w;
        w.bytes(piece_field::text, p.text);
        w.number32(piece_field::score, p.score);
        if (p.type != PieceType::normal) w.integer(piece_field::type, static_cast<int>(p.type));
        file.bytes(model_field::pieces, w.out);
    }
    FieldWriter t;
    t.integer(trainer_field::model_type, static_cast<int>(m.kind));
    t.integer(trainer_field::vocab_size, static_cast<std::int64_t>(m.pieces.size()));
    t.integer(trainer_field::whitespace_as_suffix, m.treat_whitespace_as_suffix);
    t.integer(trainer_field::byte_fallback, m.byte_fallback);
    t.integer(trainer_field::unk_id, m.unk_id);
    t.integer(trainer_field::bos_id, m.bos_id);
    t.integer(trainer_field::eos_id, m.eos_id);
    t.integer(trainer_field::pad_id, m.pad_id);
    t.bytes(trainer_field::unk_surface, m.unk_surface);
    t.bytes(trainer_field::unk_piece, m.unk_piece);
    t.bytes(trainer_field::bos_piece, m.bos_piece);
    t.bytes(trainer_field::eos_piece, m.eos_piece);
    t.bytes(trainer_field::pad_piece, m.pad_piece);
    file.bytes(model_field::trainer, t.out);
    file.bytes(model_field::normalizer, written(m.normalizer));
    if (m.has_denormalizer) file.bytes(model_field::denormalizer, written(m.denormalizer));
    return file.out;
}

}  // namespace fovea
