#pragma once
// The hashes that tools/make_tokenizer_goldens.py wrote, and what they are compared with.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/text/tokenizer.h"
#include "golden_lines.h"

namespace fovea {

struct GoldenFile {
    Json header;
    std::vector<std::vector<std::uint64_t>> parts;

    explicit GoldenFile(const std::string& path) {
        const std::string bytes = read_file(path);
        const std::size_t end = bytes.find('\n');
        expect(end != std::string::npos, path, ": has no header");
        header = parse_json(bytes.substr(0, end), path);
        std::size_t at = end + 1;
        for (const auto& n : header.at("parts")) {
            parts.emplace_back(n.get<std::size_t>());
            const std::size_t size = parts.back().size() * 8;
            expect(at + size <= bytes.size(), path, ": is cut off");
            std::memcpy(parts.back().data(), bytes.data() + at, size);
            at += size;
        }
    }
    bool of_sentencepiece() const { return header.at("library") == "sentencepiece"; }
};

struct Mismatch {
    std::string part;  // encode, decode, pair
    std::size_t line;
};

// Every hash against what the tokenizer gives now.
inline std::vector<Mismatch> compare(const Tokenizer& t, const GoldenFile& golden,
                                     const std::vector<std::string>& lines) {
    std::vector<Mismatch> wrong;
    const auto check = [&](const char* part, std::size_t line, std::uint64_t is,
                           std::uint64_t should) {
        if (is != should) wrong.push_back({part, line});
    };
    expect(golden.parts.at(0).size() == lines.size(), "goldens of ", golden.parts[0].size(),
           " lines, but there are ", lines.size());
    if (golden.of_sentencepiece()) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::vector<TokenId> ids = t.encode_ids(lines[i], false);
            check("encode", i, hash_of_ids(ids), golden.parts[0][i]);
            if (i % 4 == 0) check("decode", i, hash_of_text(t.decode(ids)), golden.parts[1][i / 4]);
        }
        return wrong;
    }
    const std::vector<Encoding> all = t.encode_batch(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        check("encode", i, hash_of_encoding(all[i]), golden.parts[0][i]);
        // The path without offsets must give the same ids.
        if (t.encode_ids(lines[i]) != all[i].ids) wrong.push_back({"encode_ids", i});
        if (i % 4 == 0)
            check("decode", i, hash_of_text(t.decode(all[i].ids)), golden.parts[1][i / 4]);
        if (i % 8 == 0 && i + 1 < lines.size())
            check("pair", i, hash_of_pair(t.encode_pair(lines[i], lines[i + 1])),
                  golden.parts[2][i / 8]);
    }
    return wrong;
}

inline std::string report_of(const std::vector<Mismatch>& wrong,
                             const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t k = 0; k < wrong.size() && k < 12; ++k)
        text += text_of("\n  ", wrong[k].part, " of line ", wrong[k].line, ": ",
                        to_text(Json(lines[wrong[k].line].substr(0, 300))));
    return text_of(wrong.size(), " differ", text);
}

}  // namespace fovea
