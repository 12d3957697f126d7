#include "fovea/io/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "fovea/base/error.h"

extern "C" {
#include <jpeglib.h>
// behind it, for its numbers of errors
#include <jerror.h>
}

namespace fovea {
namespace {

constexpr int most_scans = 100;
constexpr long memory_of_library = 256L
                                   << 20;  // coefficients of 40 million pixels in three colours

// libjpeg tells errors by a long jump. Functions below that set its target hold no object with a
// destructor: everything that must be freed belongs to this struct, which their caller owns.
struct JpegState {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf jump{};
    char message[JMSG_LENGTH_MAX] = {};

    JpegState() = default;
    JpegState(const JpegState&) = delete;
    JpegState& operator=(const JpegState&) = delete;
    ~JpegState() { jpeg_destroy_decompress(&info); }
};

JpegState& state_of(j_common_ptr info) { return *static_cast<JpegState*>(info->client_data); }

// NOLINTBEGIN(cert-err52-cpp): the library's own way of telling errors
void on_jpeg_error(j_common_ptr info) {
    JpegState& s = state_of(info);
    info->err->format_message(info, s.message);
    std::longjmp(s.jump, 1);
}

void on_jpeg_message(j_common_ptr info, int level) {
    if (level < 0) on_jpeg_error(info);  // a warning: data are corrupt
}

void on_jpeg_output(j_common_ptr) {}  // never to standard error

void on_jpeg_progress(j_common_ptr info) {
    JpegState& s = state_of(info);
    if (s.info.input_scan_number <= most_scans) return;
    std::snprintf(s.message, sizeof s.message, "it has more than %d scans", most_scans);
    std::longjmp(s.jump, 1);
}

bool read_jpeg_header(JpegState& s, std::string_view bytes) {
    s.info.err = jpeg_std_error(&s.errors);
    s.errors.error_exit = on_jpeg_error;
    s.errors.emit_message = on_jpeg_message;
    s.errors.output_message = on_jpeg_output;
    s.info.client_data = &s;
    if (setjmp(s.jump)) return false;
    jpeg_create_decompress(&s.info);
    s.info.mem->max_memory_to_use = memory_of_library;
    s.progress.progress_monitor = on_jpeg_progress;
    s.info.progress = &s.progress;
    jpeg_mem_src(&s.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&s.info, JPEG_APP0 + 1, 0xFFFF);  // EXIF
    jpeg_read_header(&s.info, TRUE);
    return true;
}

bool start_jpeg(JpegState& s) {
    if (setjmp(s.jump)) return false;
    s.info.out_color_space = s.info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&s.info);
    return true;
}

bool read_jpeg_rows(JpegState& s, std::uint8_t* pixels, std::size_t row_bytes) {
    if (setjmp(s.jump)) return false;
    while (s.info.output_scanline < s.info.output_height) {
        JSAMPROW row = pixels + s.info.output_scanline * row_bytes;
        jpeg_read_scanlines(&s.info, &row, 1);
    }
    jpeg_finish_decompress(&s.info);
    return true;
}
// NOLINTEND(cert-err52-cpp)

[[noreturn]] void bad_jpeg(const std::string& where, const char* message) {
    fail_with(ErrorKind::bad_input, "the file is damaged: fetch or export it again", where,
              ": is not a whole JPEG: ", message);
}

[[noreturn]] void refuse_jpeg(const std::string& where, const char* what) {
    fail_with(ErrorKind::bad_input,
              text_of("convert it: magick ", where, " -colorspace sRGB -depth 8 ", where, ".png"),
              where, ": is a JPEG ", what);
}

// What the header tells, before memory is asked for.
void check_jpeg_header(const JpegState& s, std::string_view bytes, const std::string& where) {
    const jpeg_decompress_struct& info = s.info;
    expect_picture_size(info.image_height, info.image_width, where);
    if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK)
        refuse_jpeg(where, "in CMYK (for printing), but only grey and RGB are read");
    if (info.num_components != 1 && info.num_components != 3)
        refuse_jpeg(where, "of unknown colours, but only grey and RGB are read");
    // A block of 8 × 8 pixels takes a bit at least in Huffman codes; a quarter of that is let pass
    // for odd samplings. Arithmetic codes can be shorter.
    const std::int64_t blocks = std::int64_t{info.image_height} * info.image_width / 64;
    if (!info.arith_code && blocks / 32 > static_cast<std::int64_t>(bytes.size()))
        bad_jpeg(where, "the file is too short for the pixels its header tells of");
}

int orientation_of(const JpegState& s) {
    for (jpeg_saved_marker_ptr m = s.info.marker_list; m != nullptr; m = m->next) {
        const std::string_view block(reinterpret_cast<const char*>(m->data), m->data_length);
        if (block.starts_with("Exif")) return exif_orientation(block);
    }
    return 1;
}

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

Picture decode_jpeg(std::string_view bytes, const std::string& where) {
    JpegState s;
    if (!read_jpeg_header(s, bytes)) {
        if (s.errors.msg_code == JERR_BAD_PRECISION)
            refuse_jpeg(where, "of other than 8 bits a channel, which is not read");
        bad_jpeg(where, s.message);
    }
    check_jpeg_header(s, bytes, where);
    const int orientation = orientation_of(s);  // the library forgets it with the last row
    if (!start_jpeg(s)) bad_jpeg(where, s.message);
    Picture p =
        blank_picture(s.info.output_height, s.info.output_width, s.info.output_components, where);
    if (!read_jpeg_rows(s, p.pixels.data(), std::size_t{p.width} * p.channels))
        bad_jpeg(where, s.message);
    return upright(std::move(p), orientation);
}

}  // namespace fovea
