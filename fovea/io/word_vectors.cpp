#include "fovea/io/word_vectors.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::int32_t fasttext_magic = 793712314, fasttext_version = 12;
constexpr std::int64_t most_words = std::int64_t{1} << 31, most_columns = 1 << 16;

struct Reading {
    std::string_view bytes;
    const std::string& where;
    std::size_t at = 0;

    std::size_t left() const { return bytes.size() - at; }

    [[noreturn]] void broken(const std::string& what) const {
        fail_with(ErrorKind::bad_input, "the file is damaged, or not one of word vectors", where,
                  ": ", what, " at byte ", at);
    }
    template <class T>
    T number(const char* what) {
        if (left() < sizeof(T)) broken(text_of("the file ends before ", what));
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        at += sizeof(T);
        return value;
    }
    std::string_view until(char end, const char* what) {
        const std::size_t found = bytes.find(end, at);
        if (found == std::string_view::npos) broken(text_of("the file ends within ", what));
        const std::string_view text = bytes.substr(at, found - at);
        at = found + 1;
        return text;
    }
    Tensor matrix(std::int64_t rows, std::int64_t cols, const char* what) {
        if (rows < 1 || cols < 1 || rows > most_words || cols > most_columns)
            broken(text_of(what, " is said to be ", rows, " × ", cols));
        if (left() / sizeof(float) / static_cast<std::size_t>(cols) <
            static_cast<std::size_t>(rows))
            broken(text_of("the file ends before ", what, " of ", rows, " × ", cols));
        Tensor t({rows, cols});
        std::memcpy(t.write(), bytes.data() + at,
                    static_cast<std::size_t>(t.size()) * sizeof(float));
        at += static_cast<std::size_t>(t.size()) * sizeof(float);
        check_finite(t, what);
        return t;
    }
    void check_finite(const Tensor& t, const char* what) const {
        for (const float x : t.span())
            if (!std::isfinite(x)) broken(text_of(what, " has a number that is not finite"));
    }
};

bool parse(std::string_view text, std::int64_t& value) {
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    return r.ec == std::errc() && r.ptr == text.data() + text.size();
}

bool parse(std::string_view text, float& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    if (r.ptr != text.data() + text.size()) return false;
    // Too small for a float counts as zero, too large as what it is: not finite.
    if (r.ec == std::errc::result_out_of_range)
        value =
            text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos
                ? 0.0f
                : INFINITY;
    return r.ec == std::errc() || r.ec == std::errc::result_out_of_range;
}

// "2000 100": both sizes, or false.
bool header_of(std::string_view line, std::int64_t& words, std::int64_t& dim) {
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t space = line.find(' ');
    return space != std::string_view::npos && parse(line.substr(0, space), words) &&
           parse(line.substr(space + 1), dim);
}

// Words once each, as UTF-8; `keep` hears which rows stay.
struct WordList {
    std::unordered_set<std::string> seen;
    std::int64_t twice = 0, mended = 0;

    bool add(std::string_view word, WordVectorFile& to) {
        std::string whole(word);
        if (!is_utf8(whole)) {
            whole = repair_utf8(whole);
            ++mended;
        }
        if (whole.empty() || !seen.insert(whole).second) {
            ++twice;
            return false;
        }
        to.words.push_back(std::move(whole));
        return true;
    }
    void note(WordVectorFile& to) const {
        if (twice > 0)
            to.notes.push_back(
                text_of(twice, " words were there twice or empty, and are left out"));
        if (mended > 0)
            to.notes.push_back(text_of(mended, " words were not UTF-8 and were mended"));
    }
};

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return fields;
}

WordVectorFile parse_text(Reading r) {
    WordVectorFile file;
    WordList list;
    std::int64_t words = -1, dim = -1, line_number = 0;
    std::vector<float> values;
    while (r.at < r.bytes.size()) {
        const std::size_t end = std::min(r.bytes.find('\n', r.at), r.bytes.size());
        const std::string_view line = r.bytes.substr(r.at, end - r.at);
        r.at = end + 1;
        ++line_number;
        if (line_number == 1 && header_of(line, words, dim)) {
            if (words < 1 || dim < 1 || words > most_words || dim > most_columns)
                r.broken(text_of("line 1 says ", words, " words of ", dim, " numbers"));
            continue;
        }
        if (line.empty() || line == "\r") continue;
        const std::vector<std::string_view> fields = fields_of(line);
        const auto numbers = static_cast<std::int64_t>(fields.size()) - 1;
        if (dim < 0) dim = numbers;
        expect_input(numbers == dim && dim > 0, r.where, ":", line_number, ": has ", numbers,
                     " numbers behind the word, but ", dim, " are wanted");
        if (!list.add(fields[0], file)) continue;
        for (std::size_t i = 1; i < fields.size(); ++i) {
            float value = 0;
            expect_input(parse(fields[i], value) && std::isfinite(value), r.where, ":", line_number,
                         ": \"", fields[i].substr(0, 40), "\" is not a number");
            values.push_back(value);
        }
    }
    expect_input(!file.words.empty(), r.where, ": there is no word in it");
    expect_input(words < 0 || words == static_cast<std::int64_t>(file.words.size()) + list.twice,
                 r.where, ": line 1 says ", words, " words, but there are ",
                 file.words.size() + static_cast<std::size_t>(list.twice));
    list.note(file);
    file.input = Tensor::of({static_cast<std::int64_t>(file.words.size()), dim}, values);
    return file;
}

WordVectorFile parse_word2vec(Reading r) {
    WordVectorFile file;
    WordList list;
    std::int64_t words = 0, dim = 0;
    header_of(r.until('\n', "the first line"), words, dim);
    if (words < 1 || dim < 1 || dim > most_columns ||
        static_cast<std::int64_t>(r.left() / sizeof(float)) / dim < words)
        r.broken(text_of("the first line says ", words, " words of ", dim, " numbers"));
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(words * dim));
    for (std::int64_t w = 0; w < words; ++w) {
        if (r.left() > 0 && r.bytes[r.at] == '\n') ++r.at;
        const bool kept = list.add(r.until(' ', "a word"), file);
        const Tensor row = r.matrix(1, dim, "a word's vector");
        if (kept) values.insert(values.end(), row.data(), row.data() + dim);
    }
    expect_input(!file.words.empty(), r.where, ": there is no word in it");
    list.note(file);
    file.input = Tensor::of({static_cast<std::int64_t>(file.words.size()), dim}, values);
    return file;
}

struct FastTextSizes {
    std::int32_t dim, entries, words, bucket;
};

FastTextSizes read_arguments(Reading& r, WordVectorFile& file) {
    const auto whole = [&](const char* what) { return r.number<std::int32_t>(what); };
    if (whole("its mark") != fasttext_magic) r.broken("the mark of fastText is missing");
    if (const std::int32_t version = whole("the version"); version != fasttext_version)
        r.broken(text_of("version ", version, ", but only ", fasttext_version, " is known,"));
    FastTextSizes s{};
    s.dim = whole("the sizes");
    file.window = whole("the sizes");
    file.epochs = whole("the sizes");
    file.min_count = whole("the sizes");
    file.negatives = whole("the sizes");
    whole("the sizes");  // n-grams of words
    whole("the loss");
    file.skip_gram = whole("the model") == 2;
    s.bucket = whole("the sizes");
    file.min_n = whole("the sizes");
    file.max_n = whole("the sizes");
    whole("the sizes");  // how often its rate was set
    file.sample = r.number<double>("the threshold");
    if (s.dim < 1 || s.dim > most_columns || s.bucket < 0 || file.min_n < 0 || file.max_n < 0 ||
        file.max_n > 64 || file.min_n > 64)
        r.broken(text_of("sizes that cannot be (dim ", s.dim, ", buckets ", s.bucket, ", n-grams ",
                         file.min_n, " to ", file.max_n, ")"));
    return s;
}

void read_dictionary(Reading& r, WordVectorFile& file, FastTextSizes& s) {
    s.entries = r.number<std::int32_t>("the dictionary");
    s.words = r.number<std::int32_t>("the dictionary");
    r.number<std::int32_t>("the dictionary");  // labels
    r.number<std::int64_t>("the dictionary");  // tokens
    const auto pruned = r.number<std::int64_t>("the dictionary");
    if (pruned > 0) r.broken("it was pruned, which is not read,");
    // An entry has at least a byte, a count and a kind.
    if (s.words < 1 || s.entries < s.words || static_cast<std::size_t>(s.entries) > r.left() / 10)
        r.broken(text_of("a dictionary of ", s.entries, " entries and ", s.words, " words"));
    WordList list;
    for (std::int32_t i = 0; i < s.entries; ++i) {
        const std::string_view word = r.until('\0', "a word");
        const auto count = r.number<std::int64_t>("a word's count");
        const bool is_word = r.number<std::int8_t>("a word's kind") == 0;
        if (is_word != (i < s.words)) r.broken("words and labels are mixed");
        if (!is_word) continue;
        if (count < 0) r.broken(text_of("a word seen ", count, " times"));
        // Rows belong to words by their place: none may be left out.
        if (!list.add(word, file)) r.broken("a word that is empty or there twice");
        file.counts.push_back(count);
    }
    list.note(file);
}

WordVectorFile parse_fasttext(Reading r) {
    WordVectorFile file;
    FastTextSizes s = read_arguments(r, file);
    read_dictionary(r, file, s);
    const auto table = [&](const char* what) {
        if (r.number<std::uint8_t>(what) != 0)
            fail_with(ErrorKind::bad_input, "quantised files (.ftz) are not read: give the .bin",
                      r.where, ": the table is quantised");
        const auto rows = r.number<std::int64_t>(what), cols = r.number<std::int64_t>(what);
        if (cols != s.dim) r.broken(text_of(what, " has ", cols, " columns, but dim is ", s.dim));
        return r.matrix(rows, cols, what);
    };
    file.input = table("the input table");
    // Rows beyond the words are those of n-grams, whatever the sizes say.
    file.buckets = file.input.rows() - s.words;
    if (file.buckets < 0 || (file.buckets != 0 && file.buckets != s.bucket))
        r.broken(text_of("an input table of ", file.input.rows(), " rows for ", s.words,
                         " words and ", s.bucket, " buckets"));
    if (file.max_n == 0 && file.buckets > 0) {  // rows that no word leads to
        file.buckets = 0;
        const auto kept = static_cast<std::size_t>(s.words) * static_cast<std::size_t>(s.dim);
        file.input = Tensor::of({s.words, s.dim}, file.input.span().first(kept));
    }
    file.output = table("the output table");
    if (file.output.rows() != s.words) file.output = {};  // of labels
    return file;
}

bool is_printable(char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\r';
}

// Behind a header "words dim", a text has printable bytes up to the end of its line and as many
// fields as it says.
bool is_binary(std::string_view bytes, std::size_t body, std::int64_t dim) {
    const std::size_t end = std::min(bytes.find('\n', body), bytes.size());
    const std::string_view line = bytes.substr(body, std::min<std::size_t>(end - body, 1 << 16));
    for (const char c : line)
        if (!is_printable(c)) return true;
    return end < bytes.size() && static_cast<std::int64_t>(fields_of(line).size()) != dim + 1 &&
           !is_utf8(line);
}

}  // namespace

WordVectorFile parse_word_vectors(const std::string& bytes, const std::string& where) {
    Reading r{bytes, where};
    std::int32_t mark = 0;
    if (bytes.size() >= 4) std::memcpy(&mark, bytes.data(), 4);
    if (mark == fasttext_magic) return parse_fasttext(r);
    std::int64_t words = 0, dim = 0;
    const std::size_t line = bytes.find('\n');
    if (line != std::string::npos &&
        header_of(std::string_view(bytes).substr(0, line), words, dim) &&
        is_binary(bytes, line + 1, dim))
        return parse_word2vec(r);
    if (looks_binary(std::string_view(bytes).substr(0, 4096)))
        r.broken("neither a text nor a binary file of word vectors");
    return parse_text(r);
}

WordVectorFile read_word_vectors(const std::string& path) {
    return parse_word_vectors(read_file_or_gzip(path), path);
}

namespace {

template <class T>
void put(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_row(std::string& to, const Tensor& t, std::size_t row) {
    to.append(reinterpret_cast<const char*>(t.data() + static_cast<std::int64_t>(row) * t.cols()),
              static_cast<std::size_t>(t.cols()) * sizeof(float));
}

void check_writable(const std::string& path, const WordVectorFile& v) {
    for (const std::string& word : v.words)
        if (word.find_first_of(" \t\n\r\v\f") != std::string::npos)
            fail_with(ErrorKind::failed, "write fastText's binary format instead", path,
                      ": the word \"", word, "\" has white space in it");
}

std::string as_lines(const WordVectorFile& v, bool binary) {
    std::string out = fmt::format("{} {}\n", v.words.size(), v.input.cols());
    for (std::size_t w = 0; w < v.words.size(); ++w) {
        out += v.words[w];
        if (binary) {
            out += ' ';
            put_row(out, v.input, w);
        } else {
            for (std::int64_t j = 0; j < v.input.cols(); ++j)
                fmt::format_to(std::back_inserter(out), " {}",
                               v.input.at(static_cast<std::int64_t>(w), j));
        }
        out += '\n';
    }
    return out;
}

std::string as_fasttext(const WordVectorFile& v) {
    std::string out;
    const auto bucket = static_cast<std::int32_t>(v.buckets);
    for (const std::int32_t n :
         {fasttext_magic, fasttext_version, static_cast<std::int32_t>(v.input.cols()), v.window,
          v.epochs, v.min_count, v.negatives, 1, 2, v.skip_gram ? 2 : 1, bucket,
          bucket > 0 ? v.min_n : 0, bucket > 0 ? v.max_n : 0, 100})
        put(out, n);
    put(out, v.sample);
    const auto words = static_cast<std::int32_t>(v.words.size());
    put(out, words);
    put(out, words);
    put(out, std::int32_t{0});
    std::int64_t tokens = 0;
    for (const std::int64_t c : v.counts) tokens += c;
    put(out, tokens);
    put(out, std::int64_t{-1});  // not pruned
    for (std::size_t w = 0; w < v.words.size(); ++w) {
        out += v.words[w];
        out += '\0';
        put(out, v.counts.empty() ? std::int64_t{1} : v.counts[w]);
        put(out, std::int8_t{0});
    }
    const auto table = [&](const Tensor& t) {
        put(out, std::uint8_t{0});
        put(out, t.rows());
        put(out, t.cols());
        out.append(reinterpret_cast<const char*>(t.data()),
                   static_cast<std::size_t>(t.size()) * sizeof(float));
    };
    table(v.input);
    table(v.output.empty() ? Tensor::zeros({words, v.input.cols()}) : v.output);
    return out;
}

}  // namespace

void write_word_vectors(const std::string& path, const WordVectorFile& vectors,
                        WordVectorFormat format) {
    const auto words = static_cast<std::int64_t>(vectors.words.size());
    expect(vectors.input.rows() ==
               words + (format == WordVectorFormat::fasttext ? vectors.buckets : 0),
           "word vectors: ", words, " words, but the table is ", vectors.input.shape());
    if (format != WordVectorFormat::fasttext) check_writable(path, vectors);
    write_file_atomically(path, format == WordVectorFormat::fasttext
                                    ? as_fasttext(vectors)
                                    : as_lines(vectors, format == WordVectorFormat::word2vec));
}

}  // namespace fovea
