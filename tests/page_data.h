#pragma once
// The data of a page that `fovea inspect --html` wrote.
#include <string>

#include "fovea/base/files.h"
#include "fovea/base/json.h"

namespace fovea::test {

inline Json html_data(const std::string& path) {
    const std::string page = read_file(path), mark = "id=\"data\">";
    const std::size_t from = page.find(mark) + mark.size();
    return parse_json(page.substr(from, page.find("</script>", from) - from), path);
}

}  // namespace fovea::test
