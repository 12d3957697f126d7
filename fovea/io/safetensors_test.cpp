#include "fovea/io/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

std::string golden(const char* name) { return std::string(FOVEA_SOURCE_DIR "/tests/io/") + name; }

std::string with_header(const std::string& json, const std::string& data) {
    std::string out;
    for (std::size_t i = 0; i < 8; ++i)
        out.push_back(static_cast<char>((json.size() >> (8 * i)) & 255));
    return out + json + data;
}

TEST(Safetensors, ReadsEveryTypeOfTheReferenceLibrary) {
    const TensorFile file(golden("all_types.safetensors"));
    const Json values = read_json(golden("values.json"));
    EXPECT_EQ(file.tensors().size(), values.size());
    EXPECT_EQ(file.metadata().at("format"), "pt");
    for (const auto& [name, wanted] : values.items()) {
        const TensorInfo& info = file.at(name);
        EXPECT_EQ(info.shape, wanted["shape"].get<std::vector<std::int64_t>>()) << name;
        const Tensor t = file.read(name);
        const auto bits = wanted["bits"].get<std::vector<std::int32_t>>();
        ASSERT_EQ(t.size(), static_cast<std::int64_t>(bits.size())) << name;
        for (std::size_t i = 0; i < bits.size(); ++i)
            EXPECT_EQ(std::bit_cast<std::int32_t>(t.data()[i]), bits[i]) << name << " " << i;
    }
    EXPECT_EQ(file.read_integers("i64"), (std::vector<std::int64_t>{INT64_MIN, INT64_MAX, 5}));
    EXPECT_EQ(file.read_integers("i8"), (std::vector<std::int64_t>{-128, 127}));
    EXPECT_EQ(file.read_integers("u16"), (std::vector<std::int64_t>{0, 65535}));
    EXPECT_EQ(file.read("single").shape(), Shape({1}));
}

TEST(Safetensors, WritesTheReferenceLibrarysBytes) {
    const TestFolder folder;
    const TensorFile file(golden("all_types.safetensors"));
    std::vector<TensorToWrite> all;
    for (const TensorInfo& t : file.tensors()) {
        if (t.dtype == DType::F32 && !t.shape.empty())
            all.push_back(TensorToWrite::of(t.name, file.read(t)));
        else
            all.push_back({t.name, t.dtype, t.shape, {}, file.read_bytes(t)});
    }
    std::reverse(all.begin(), all.end());
    write_safetensors(folder / "again.safetensors", all);
    EXPECT_EQ(read_file(folder / "again.safetensors"), read_file(golden("all_types.safetensors")));
    EXPECT_EQ(list_folder(folder.path()).size(), 1u);  // no temporary is left
}

TEST(Safetensors, HalvesRoundAsTheReferenceDoes) {
    const TestFolder folder;
    const TensorFile file(golden("all_types.safetensors"));
    const Tensor f32 = file.read("layer.0.weight");
    write_safetensors(folder / "h", {TensorToWrite::of("f16", f32, DType::F16),
                                     TensorToWrite::of("bf16", f32, DType::BF16),
                                     TensorToWrite::of("b", f32.to(Format::bf16))});
    const TensorFile ours(folder / "h");
    EXPECT_EQ(ours.at("f16").dtype, DType::F16);
    EXPECT_EQ(ours.at("b").dtype, DType::BF16);
    // the golden rounded the doubles, ours the floats: the same but for double rounding
    const auto a = ours.read("bf16").values(), b = file.read("bf16").values();
    const auto c = ours.read("f16").values(), d = file.read("f16").values();
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_FLOAT_EQ(a[i], b[i]);
        EXPECT_FLOAT_EQ(c[i], d[i]);
    }
}

TEST(Safetensors, F16ConversionIsExactForAllBitPatterns) {
    for (std::uint32_t h = 0; h < 65536; ++h) {
        const float x = f16_to_f32(static_cast<std::uint16_t>(h));
        const std::uint16_t back = f32_to_f16(x);
        if (std::isnan(x))
            EXPECT_TRUE((back & 0x7c00) == 0x7c00 && (back & 0x3ff)) << h;
        else
            EXPECT_EQ(back, h);
        // halfway to the next value goes to the even one
        const auto next = static_cast<std::uint16_t>(h + 1);
        if ((h & 0x7fff) < 0x7bff) {
            const float middle = static_cast<float>((double{x} + double{f16_to_f32(next)}) / 2);
            EXPECT_EQ(f32_to_f16(middle), (h & 1) ? next : h) << h;
            EXPECT_EQ(f32_to_f16(std::nextafterf(middle, x)), h);
            EXPECT_EQ(f32_to_f16(std::nextafterf(middle, f16_to_f32(next))), next);
        }
    }
    EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
    EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
    EXPECT_EQ(f32_to_bf16(1e-45f), 0);
    EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x00010000u)), 1);  // denormals are kept
}

// Any set of tensors comes back as it went in.
TEST(Safetensors, SaveThenLoadIsIdentityForRandomSets) {
    const TestFolder folder;
    Rng rng(5);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<TensorToWrite> all;
        Metadata metadata;
        for (std::int64_t i = rng.below(12); i >= 0; --i) {
            Shape shape;
            for (std::int64_t r = 1 + rng.below(4); r > 0; --r) shape.push(rng.below(6));
            Tensor t(shape);
            float* to = t.write();
            for (std::int64_t k = 0; k < t.size(); ++k)
                to[k] = std::bit_cast<float>(static_cast<std::uint32_t>(rng.bits()));
            all.push_back(TensorToWrite::of(text_of("layer.", rng.bits(), ".ä\"w"), t));
            metadata[text_of("k", i)] = text_of(rng.bits(), "\n\\é");
        }
        all.push_back(TensorToWrite::of("steps", {1, -2, INT64_MAX}));
        write_safetensors(folder / "f", all, metadata);
        const TensorFile file(folder / "f");
        EXPECT_EQ(file.metadata(), metadata);
        ASSERT_EQ(file.tensors().size(), all.size());
        for (const TensorToWrite& t : all) {
            EXPECT_EQ(file.at(t.name).shape, t.shape);
            if (t.dtype == DType::I64) continue;
            const Tensor back = file.read(t.name);
            EXPECT_EQ(std::memcmp(back.data(), t.values.data(),
                                  static_cast<std::size_t>(back.size()) * 4),
                      0);
        }
        EXPECT_EQ(file.read_integers("steps"), (std::vector<std::int64_t>{1, -2, INT64_MAX}));
    }
}

TEST(Safetensors, WriterRefusesWhatTheFormatCannotHold) {
    const TestFolder folder;
    const Tensor t = Tensor::zeros({2});
    const auto write = [&](std::vector<TensorToWrite> all) {
        return complaint([&] { write_safetensors(folder / "x", std::move(all)); });
    };
    EXPECT_EQ(write({TensorToWrite::of("a", t), TensorToWrite::of("a", t)}),
              "safetensors: the name a stands twice");
    EXPECT_EQ(write({TensorToWrite::of("__metadata__", t)}),
              "safetensors: no tensor may be called __metadata__");
    EXPECT_EQ(write({TensorToWrite::of("\xff", t)}), "safetensors: a name is not UTF-8");
    EXPECT_EQ(write({{"r", DType::F64, {3}, {}, "12345678"}}),
              "safetensors: r has 8 bytes but needs 24");
    EXPECT_EQ(complaint([] {
                  TensorToWrite::of("q", Tensor::zeros({2, 3}).to(Format::int7));
              }),
              "safetensors: q is int7, which no file holds: int8 does");
    EXPECT_NE(complaint([&] { TensorToWrite::of("q", t, DType::I8); }).find("as I8"),
              std::string::npos);  // f32 values are rounded to int8 by whoever knows their rows
    EXPECT_TRUE(list_folder(folder.path()).empty());
    EXPECT_NE(complaint([&] { write_safetensors("/dev/full/x", {}); }), "");
    EXPECT_NE(complaint([&] { write_safetensors(folder / "no/x", {}); }).find("cannot create"),
              std::string::npos);
}

struct Bad {
    std::string name, bytes, wanted;
};

// One file for each rule of the format and each way to break it.
std::vector<Bad> bad_files() {
    const std::string four(4, '\0'), eight(8, '\0');
    const auto tensor = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
    const std::string ok = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
    std::string deep = "{\"a\":";
    for (int i = 0; i < 65; ++i) deep += "[";
    std::vector<Bad> bad{
        {"empty", "", "too few"},
        {"seven_bytes", std::string(7, '\0'), "too few"},
        {"no_header", std::string(8, '\0'), "does not begin with {"},
        {"header_length_1", with_header("{", ""), "not valid JSON"},
        {"header_2_63", std::string("\0\0\0\0\0\0\0\x80", 8) + "{}", "at most 100000000"},
        {"header_all_ones", std::string(8, '\xff'), "at most 100000000"},
        {"header_100_mb_and_1", std::string("\x01\xe1\xf5\x05\0\0\0\0", 8), "at most 100000000"},
        {"header_beyond_file", std::string("\x10\0\0\0\0\0\0\0", 8) + "{}", "only 2 follow"},
        {"space_first", with_header(" {}", ""), "does not begin with {"},
        {"array_first", with_header("[]", ""), "does not begin with {"},
        {"byte_order_mark", with_header("\xEF\xBB\xBF{}", ""), "does not begin with {"},
        {"not_utf8", with_header("{\"\xff\":1}", ""), "not UTF-8"},
        {"overlong_utf8", with_header("{\"\xc0\xaf\":1}", ""), "not UTF-8"},
        {"surrogate_utf8", with_header("{\"\xed\xa0\x80\":1}", ""), "not UTF-8"},
        {"cut_utf8", with_header("{\"\xe4\xb8", ""), "not UTF-8"},
        {"cut_json", with_header("{\"a\":{", ""), "not valid JSON"},
        {"trailing_json", with_header("{}{}", ""), "not valid JSON"},
        {"trailing_comma", with_header("{\"a\":{" + ok + "},}", four), "not valid JSON"},
        {"trailing_nul", with_header(std::string("{}\0", 3), ""), "not valid JSON"},
        {"deep", with_header(deep, ""), "an array"},
        {"entry_number", with_header("{\"a\":1}", ""), "must be an object"},
        {"entry_string", with_header("{\"a\":\"x\"}", ""), "must be an object"},
        {"entry_null", with_header("{\"a\":null}", ""), "must be an object"},
        {"entry_empty", with_header("{\"a\":{}}", ""), "lacks dtype"},
        {"no_dtype", with_header(tensor(R"("shape":[1],"data_offsets":[0,4])"), four),
         "lacks dtype"},
        {"no_shape", with_header(tensor(R"("dtype":"F32","data_offsets":[0,4])"), four),
         "lacks shape"},
        {"no_offsets", with_header(tensor(R"("dtype":"F32","shape":[1])"), four),
         "lacks data_offsets"},
        {"extra_key", with_header(tensor(ok + ",\"x\":1"), four), "unknown key"},
        {"nested_object", with_header(tensor("\"dtype\":{}"), ""), "nested too deep"},
        {"dtype_unknown",
         with_header(tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), four),
         "unknown dtype"},
        {"dtype_lower",
         with_header(tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), four),
         "unknown dtype"},
        {"dtype_number", with_header(tensor(R"("dtype":3,"shape":[1],"data_offsets":[0,4])"), four),
         "holds a number"},
        {"dtype_list",
         with_header(tensor(R"("dtype":["F32"],"shape":[1],"data_offsets":[0,4])"), four),
         "holds an array"},
        {"dtype_twice", with_header(tensor("\"dtype\":\"F32\"," + ok), four), "twice"},
        {"dtype_swapped",
         with_header(tensor(R"("dtype":"F64","shape":[1],"data_offsets":[0,4])"), four), "needs 8"},
        {"shape_number",
         with_header(tensor(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), four),
         "holds a number"},
        {"shape_negative",
         with_header(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), four),
         "negative"},
        {"shape_float",
         with_header(tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), four),
         "no whole number"},
        {"shape_exponent",
         with_header(tensor(R"("dtype":"F32","shape":[1e0],"data_offsets":[0,4])"), four),
         "no whole number"},
        {"shape_leading_zero",
         with_header(tensor(R"("dtype":"F32","shape":[01],"data_offsets":[0,4])"), four),
         "not valid JSON"},
        {"shape_hex",
         with_header(tensor(R"("dtype":"F32","shape":[0x1],"data_offsets":[0,4])"), four),
         "not valid JSON"},
        {"shape_string",
         with_header(tensor(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), four),
         "a string"},
        {"shape_nested",
         with_header(tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), four),
         "an array"},
        {"shape_null",
         with_header(tensor(R"("dtype":"F32","shape":[null],"data_offsets":[0,4])"), four), "null"},
        {"shape_2_64",
         with_header(tensor(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4])"),
                     four),
         "no whole number"},
        {"shape_2_63",
         with_header(tensor(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"),
                     four),
         "too large"},
        {"shape_product_overflow",
         with_header(
             tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), four),
         "size overflow"},
        {"shape_bits_overflow",
         with_header(tensor(R"("dtype":"F64","shape":[288230376151711744],"data_offsets":[0,4])"),
                     four),
         "size overflow"},
        {"shape_too_small",
         with_header(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), four), "needs 8"},
        {"shape_empty_but_bytes",
         with_header(tensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,4])"), four), "needs 0"},
        {"offsets_one",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4])"), four),
         "must have 2"},
        {"offsets_three",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), four),
         "must have 2"},
        {"offsets_backwards",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), four),
         "bad offsets"},
        {"offsets_negative",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"), four),
         "negative"},
        {"offsets_gap_at_start",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), eight),
         "bad offsets"},
        {"offsets_huge",
         with_header(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,9223372036854775807])"),
                     four),
         "needs 4"},
        {"end_beyond_file",
         with_header(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), four), "cut off"},
        {"bytes_follow", with_header(tensor(ok), eight), "something follows"},
        {"bytes_without_tensors", with_header("{}", four), "something follows"},
        {"misaligned_f4",
         with_header(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), "x"),
         "whole byte"},
        {"misaligned_f6",
         with_header(tensor(R"("dtype":"F6_E2M3","shape":[2],"data_offsets":[0,1])"), "x"),
         "whole byte"},
        {"name_twice", with_header("{\"a\":{" + ok + "},\"a\":{" + ok + "}}", four),
         "stands twice"},
        {"name_twice_escaped", with_header("{\"a\":{" + ok + "},\"\\u0061\":{" + ok + "}}", four),
         "stands twice"},
        {"name_nul", with_header("{\"a\\u0000b\":{" + ok + "}}", four), "control character"},
        {"name_newline", with_header("{\"a\\nb\":{" + ok + "}}", four), "control character"},
        {"metadata_number", with_header(R"({"__metadata__":{"a":1}})", ""), "must be a string"},
        {"metadata_object", with_header(R"({"__metadata__":{"a":{}}})", ""), "nested too deep"},
        {"metadata_list", with_header(R"({"__metadata__":{"a":[]}})", ""), "must be a string"},
        {"metadata_string", with_header(R"({"__metadata__":"pt"})", ""), "must be an object"},
        {"metadata_twice", with_header(R"({"__metadata__":{},"__metadata__":{}})", ""),
         "stands twice"},
        {"metadata_key_twice", with_header(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "twice"},
    };
    const auto two = [&](int b0, int e0, int b1, int e1, int bytes) {
        return with_header(
            text_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[", e0 - b0, "],\"data_offsets\":[", b0,
                    ",", e0, "]},\"b\":{\"dtype\":\"U8\",\"shape\":[", e1 - b1,
                    "],\"data_offsets\":[", b1, ",", e1, "]}}"),
            std::string(static_cast<std::size_t>(bytes), 'x'));
    };
    bad.push_back({"gap", two(0, 2, 3, 5, 5), "bad offsets"});
    bad.push_back({"overlap", two(0, 3, 2, 5, 5), "bad offsets"});
    bad.push_back({"same_bytes", two(0, 3, 0, 3, 3), "bad offsets"});
    bad.push_back({"gap_at_end", two(0, 2, 2, 4, 6), "something follows"});
    return bad;
}

TEST(Safetensors, EachBrokenRuleIsOneClearError) {
    const TestFolder folder;
    const auto all = bad_files();
    EXPECT_GE(all.size(), 70u);
    for (const Bad& bad : all) {
        const std::string path = folder / (bad.name + ".safetensors");
        put_file(path, bad.bytes);
        try {
            TensorFile file(path);
            ADD_FAILURE() << bad.name << " was accepted";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << bad.name;
            EXPECT_EQ(std::string(e.what()).rfind(path + ": ", 0), 0u) << e.what();
            EXPECT_NE(std::string(e.what()).find(bad.wanted), std::string::npos)
                << bad.name << ": " << e.what();
            EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
        }
    }
}

TEST(Safetensors, OddButRightFilesAreRead) {
    const TestFolder folder;
    put_file(folder / "f", with_header("{}      ", ""));
    EXPECT_TRUE(TensorFile(folder / "f").tensors().empty());
    // out of order in the header, an empty tensor at another's offset, padding
    put_file(folder / "g", with_header(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                       R"("e":{"dtype":"F32","shape":[0,9],"data_offsets":[1,1]},)"
                                       R"("f":{"dtype":"F4","shape":[2,2],"data_offsets":[3,5]},)"
                                       R"("a":{"dtype":"I8","shape":[],"data_offsets":[0,1]}}  )",
                                       "\xff\x01\x02\x03\x04"));
    const TensorFile g(folder / "g");
    EXPECT_EQ(g.tensors()[0].name, "a");
    EXPECT_EQ(g.read("a").item(), -1);
    EXPECT_EQ(g.read("b").values(), (std::vector<float>{1, 2}));
    EXPECT_EQ(g.read("e").size(), 0);
    EXPECT_NE(complaint([&] { g.read("f"); }).find("is F4, which cannot be read as f32"),
              std::string::npos);
    EXPECT_NE(complaint([&] { g.read("zz"); }).find("holds no tensor \"zz\""), std::string::npos);
    put_file(folder / "r", with_header(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],)"
                                       R"("data_offsets":[0,1]}})",
                                       "x"));
    EXPECT_NE(complaint([&] { TensorFile(folder / "r").read("a"); }).find("at most 4 dimensions"),
              std::string::npos);
}

TEST(Safetensors, MissingFilesAndFolders) {
    const TestFolder folder;
    const auto kind = [](const std::string& path) {
        try {
            TensorFile file(path);
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::failed;
    };
    EXPECT_EQ(kind(folder / "none"), ErrorKind::not_found);
    EXPECT_EQ(kind(folder.path()), ErrorKind::not_found);
    EXPECT_EQ(kind("/dev/null"), ErrorKind::not_found);
}

TEST(Safetensors, TruncationAtEveryByteIsDetected) {
    const TestFolder folder;
    Rng rng(2);
    std::vector<TensorToWrite> all;
    for (int i = 0; i < 6; ++i) {
        Tensor t({3 + i, 40});
        std::fill_n(t.write(), t.size(), static_cast<float>(rng.normal()));
        all.push_back(TensorToWrite::of(text_of("t", i), t));
    }
    write_safetensors(folder / "whole", all);
    for (const std::string& whole :
         {read_file(folder / "whole"), read_file(golden("all_types.safetensors"))}) {
        std::vector<std::size_t> cuts;
        for (std::size_t n = 0; n < std::min<std::size_t>(whole.size(), 4096); ++n)
            cuts.push_back(n);
        for (int i = 0; i < 500; ++i)
            cuts.push_back(
                static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(whole.size()))));
        for (const std::size_t n : cuts) {
            put_file(folder / "cut", std::string_view(whole).substr(0, n));
            EXPECT_NE(complaint([&] { TensorFile(folder / "cut"); }), "") << n << " bytes";
        }
    }
}

// Random damage to the header must never do more than be refused or be read as something else of
// the same size: run under the sanitizers, this is the test that matters.
TEST(Safetensors, DamagedHeadersNeverCrash) {
    const TestFolder folder;
    Rng rng(3);
    const std::string whole = read_file(golden("all_types.safetensors"));
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string bytes = whole;
        for (std::int64_t k = rng.below(3); k >= 0; --k) {
            const auto at = static_cast<std::size_t>(rng.below(1200));
            bytes[at] = rng.below(2) ? static_cast<char>(rng.bits())
                                     : "0123456789{}[]\",:\\"[rng.below(19)];
        }
        put_file(folder / "f", bytes);
        try {
            const TensorFile file(folder / "f");
            for (const TensorInfo& t : file.tensors())
                if (can_convert_to_f32(t.dtype) && t.shape.size() <= 4) file.read(t);
        } catch (const Error& e) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace fovea
