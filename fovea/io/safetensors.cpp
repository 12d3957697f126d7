#include "fovea/io/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::int64_t longest_header = 100'000'000;  // the format's own limit

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw Error(path + ": " + what, ErrorKind::bad_input,
                "the file is damaged, cut off or not a safetensors file; fetch or save it again");
}

}  // namespace

struct TensorFile::Descriptor {
    int fd = -1;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
};

TensorFile::TensorFile(const std::string& path)
    : path_(path), file_(std::make_shared<Descriptor>()) {
    file_->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_->fd < 0)
        throw Error(path + ": cannot open: " + std::strerror(errno), ErrorKind::not_found);
    struct stat s {};
    if (::fstat(file_->fd, &s) != 0 || !S_ISREG(s.st_mode))
        throw Error(path + ": is not a regular file", ErrorKind::not_found);
    const std::int64_t size = s.st_size;
    if (size < 8) refuse(path, text_of("has ", size, " bytes, too few for the length of a header"));
    unsigned char raw[8];
    read_at(0, raw, 8);
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = (length << 8) | raw[i];
    if (length > static_cast<std::uint64_t>(longest_header))
        refuse(path, text_of("the header would have ", length, " bytes but at most ",
                             longest_header, " are allowed"));
    const auto header_bytes = static_cast<std::int64_t>(length);
    if (header_bytes > size - 8)
        refuse(path, text_of("the header would have ", header_bytes, " bytes but only ", size - 8,
                             " follow its length"));
    std::string json(static_cast<std::size_t>(header_bytes), '\0');
    read_at(8, json.data(), header_bytes);
    data_begin_ = 8 + header_bytes;
    header_ = parse_safetensors_header(json, size - data_begin_, path);
    for (std::size_t i = 0; i < header_.tensors.size(); ++i)
        index_.emplace(header_.tensors[i].name, i);
}

void TensorFile::read_at(std::int64_t offset, void* to, std::int64_t bytes) const {
    char* at = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t n = ::pread(file_->fd, at, static_cast<std::size_t>(bytes), offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw Error(path_ + ": cannot read: " + std::strerror(errno));
        if (n == 0) refuse(path_, "became shorter while it was read");
        at += n;
        offset += n;
        bytes -= n;
    }
}

const TensorInfo* TensorFile::find(const std::string& name) const {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : &header_.tensors[it->second];
}

const TensorInfo& TensorFile::at(const std::string& name) const {
    const TensorInfo* info = find(name);
    if (!info) throw Error(path_ + ": holds no tensor \"" + name + "\"", ErrorKind::bad_input);
    return *info;
}

Tensor TensorFile::read(const std::string& name) const { return read(at(name)); }

Tensor TensorFile::read(const TensorInfo& info) const {
    expect_input(can_convert_to_f32(info.dtype), path_, ": tensor \"", info.name, "\" is ",
                 name_of(info.dtype), ", which cannot be read as f32");
    expect_input(info.shape.size() <= Shape::max_rank, path_, ": tensor \"", info.name, "\" is ",
                 text_of_shape(info.shape), " but at most ", int{Shape::max_rank},
                 " dimensions can be read");
    Shape shape;
    for (const std::int64_t n : info.shape) shape.push(n);
    if (info.shape.empty()) shape.push(1);
    Tensor t(shape);
    float* to = t.write();
    if (info.dtype == DType::F32) {  // no detour
        read_at(data_begin_ + info.begin, to, info.end - info.begin);
        return t;
    }
    const std::int64_t size = bits_of(info.dtype) / 8, piece = (1 << 18) / size;
    std::vector<char> raw(static_cast<std::size_t>(std::min(piece, t.size()) * size));
    for (std::int64_t i = 0; i < t.size(); i += piece) {
        const std::int64_t n = std::min(piece, t.size() - i);
        read_at(data_begin_ + info.begin + i * size, raw.data(), n * size);
        convert_to_f32(info.dtype, raw.data(), n, to + i);
    }
    return t;
}

std::string TensorFile::read_bytes(const TensorInfo& info) const {
    std::string bytes(static_cast<std::size_t>(info.end - info.begin), '\0');
    read_at(data_begin_ + info.begin, bytes.data(), info.end - info.begin);
    return bytes;
}

namespace {
template <class T>
std::vector<std::int64_t> widen(const std::string& bytes) {
    std::vector<std::int64_t> out(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) {
        T value;  // of either sign, as its type says
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        out[i] = std::int64_t{value};
    }
    return out;
}
}  // namespace

std::vector<std::int64_t> TensorFile::read_integers(const std::string& name) const {
    const TensorInfo& info = at(name);
    switch (info.dtype) {
        case DType::BOOL:
        case DType::U8:
            return widen<std::uint8_t>(read_bytes(info));
        case DType::I8:
            return widen<std::int8_t>(read_bytes(info));
        case DType::I16:
            return widen<std::int16_t>(read_bytes(info));
        case DType::U16:
            return widen<std::uint16_t>(read_bytes(info));
        case DType::I32:
            return widen<std::int32_t>(read_bytes(info));
        case DType::U32:
            return widen<std::uint32_t>(read_bytes(info));
        case DType::I64:
            return widen<std::int64_t>(read_bytes(info));
        default:
            throw Error(text_of(path_, ": tensor \"", name, "\" is ", name_of(info.dtype),
                                " but whole numbers are wanted"),
                        ErrorKind::bad_input);
    }
}

}  // namespace fovea
