#include "fovea/text/spm/sentencepiece_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

SentencePieceModel small_model() {
    SentencePieceModel m;
    m.pieces = {{"<unk>", 0, PieceType::unknown}, {"<s>", 0, PieceType::control},
                {"</s>", 0, PieceType::control},  {"\xE2\x96\x81the", -1.5f, PieceType::normal},
                {"a", -3.25f, PieceType::normal}, {"@user", 0, PieceType::user_defined},
                {"old", -9.f, PieceType::unused}};
    m.normalizer.name = "identity";
    return m;
}

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        return e.what();
    }
    return "no error";
}

TEST(SentencePieceModel, WrittenThenReadIsTheSame) {
    SentencePieceModel m = small_model();
    m.kind = SentencePieceKind::bpe;
    m.treat_whitespace_as_suffix = true;
    m.normalizer.add_dummy_prefix = false;
    m.has_denormalizer = true;
    m.denormalizer.name = "back";
    const SentencePieceModel r = parse_sentencepiece(write_sentencepiece(m), "m.model");
    ASSERT_EQ(r.pieces.size(), m.pieces.size());
    for (std::size_t i = 0; i < m.pieces.size(); ++i) {
        EXPECT_EQ(r.pieces[i].text, m.pieces[i].text);
        EXPECT_EQ(r.pieces[i].score, m.pieces[i].score);
        EXPECT_EQ(r.pieces[i].type, m.pieces[i].type);
    }
    EXPECT_EQ(r.kind, m.kind);
    EXPECT_TRUE(r.treat_whitespace_as_suffix);
    EXPECT_EQ(r.normalizer, m.normalizer);
    EXPECT_EQ(r.denormalizer, m.denormalizer);
    EXPECT_EQ(r.unk_id, 0);
    EXPECT_EQ(r.bos_id, 1);
    EXPECT_EQ(r.eos_id, 2);
    EXPECT_EQ(r.pad_id, -1);
    EXPECT_EQ(write_sentencepiece(r), write_sentencepiece(m));
}

TEST(SentencePieceModel, UnknownFieldsAreSkipped) {
    std::string bytes = write_sentencepiece(small_model());
    bytes += std::string("\xC0\x3E\x05", 3);                          // field 1000, varint
    bytes += std::string("\x7A\x03xyz", 5);                           // field 15, bytes
    bytes += std::string("\x7D\x01\x02\x03\x04", 5);                  // field 15, fixed32
    bytes += std::string("\x79\x01\x02\x03\x04\x05\x06\x07\x08", 9);  // field 15, fixed64
    EXPECT_EQ(parse_sentencepiece(bytes, "m").pieces.size(), 7u);
}

TEST(SentencePieceModel, TruncatedAnywhereIsOneErrorOrAWholeModel) {
    const std::string bytes = write_sentencepiece(small_model());
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        try {
            parse_sentencepiece(bytes.substr(0, n), "cut.model");
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("cut.model"), std::string::npos);
        }
    }
    EXPECT_NE(message_of([&] { parse_sentencepiece(bytes.substr(0, 5), "cut.model"); }),
              "no error");
}

TEST(SentencePieceModel, RandomBytesNeverDoHarm) {
    const std::string bytes = write_sentencepiece(small_model());
    Rng rng(3);
    for (int round = 0; round < 20000; ++round) {
        std::string b = bytes;
        for (std::int64_t k = rng.below(4) + 1; k > 0; --k)
            b[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(b.size())))] =
                static_cast<char>(rng.below(256));
        try {
            parse_sentencepiece(b, "m");
        } catch (const Error&) {
        }
    }
}

TEST(SentencePieceModel, ErrorsSayWhatAndWhere) {
    const auto refused = [](const std::string& bytes) {
        return message_of([&] { parse_sentencepiece(bytes, "bad.model"); });
    };
    const auto changed = [](auto&& change) {
        SentencePieceModel m = small_model();
        change(m);
        return write_sentencepiece(m);
    };
    EXPECT_EQ(refused(""), "bad.model: is empty but should be a SentencePiece .model file");
    EXPECT_EQ(refused("\x0A"), "bad.model: byte 0: the file ends inside a number");
    EXPECT_EQ(refused(std::string("\x0A\x05gg", 4)),
              "bad.model: byte 0: field 1 claims 5 bytes but 2 are left");
    EXPECT_EQ(refused("\x0B\x0C"),
              "bad.model: byte 0: a group (wire type 3), which no .model file has");
    EXPECT_EQ(refused("\x0E"), "bad.model: byte 0: wire type 6 does not exist");
    EXPECT_EQ(refused(std::string("\x00\x01", 2)),
              "bad.model: byte 0: field number 0 does not exist");
    EXPECT_EQ(refused("\x08\x01"),
              "bad.model: byte 0: field 1 has wire type 0 but should be bytes");
    EXPECT_EQ(refused(std::string(12, '\xFF')), "bad.model: byte 0: a number of more than 64 bits");
    EXPECT_NE(refused(changed([](auto& m) { m.pieces[3].text = "<s>"; })).find("is there twice"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) {
                  m.pieces[0].type = PieceType::normal;
              })).find("no piece is of the type unknown"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) { m.pieces[4].text = ""; })).find("a piece without text"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) { m.pieces[4].text = "\xC0\x80"; })).find("not UTF-8"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) { m.pieces[4].score = 0.f / 0.f; })).find("score"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) {
                  m.pieces[4].text = std::string(100000, 'x');
              })).find("100000 bytes"),
              std::string::npos);
    EXPECT_NE(refused(changed([](auto& m) { m.byte_fallback = true; })).find("<0x00> is missing"),
              std::string::npos);
}

TEST(SentencePieceModel, ReadsRealModels) {
    const std::string folder = std::string(FOVEA_SOURCE_DIR) + "/../shared/tokenizers/";
    if (!file_exists(folder)) GTEST_SKIP() << "no ../shared/tokenizers here";
    const SentencePieceModel albert = read_sentencepiece(folder + "albert-base-v2/spiece.model");
    EXPECT_EQ(albert.pieces.size(), 30000u);
    EXPECT_EQ(albert.kind, SentencePieceKind::unigram);
    EXPECT_EQ(albert.pieces[48].text, "\xE2\x96\x81this");
    EXPECT_FALSE(albert.normalizer.precompiled_charsmap.empty());
    const SentencePieceModel bytes = read_sentencepiece(
        folder + "sentencepiece-test/test_sentencepiece_with_bytefallback.model");
    EXPECT_TRUE(bytes.byte_fallback);
    EXPECT_EQ(read_sentencepiece(folder + "sentencepiece-test/test_sentencepiece_bpe.model").kind,
              SentencePieceKind::bpe);
}

}  // namespace
}  // namespace fovea
