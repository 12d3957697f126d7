# Most of a small file's compile time was its headers (measured with GCC 12: CLI11 7.0 s,
# nlohmann/json 2.8 s, gtest 1.9 s, the standard ones 1.1 s). Two sets of them are compiled once and
# shared, for the rooms and for tests. Each has a target of its own, because a precompiled header fits
# only code of the same flags (libraries are PIC, programs PIE). The command line's set is its own.
# The dev preset builds without both: there a missing #include shows, and one file compiles quickly.
# FOVEA_UNITY compiles twenty files of a room as one, so that templates of these headers are compiled
# twenty times less; names in anonymous namespaces must then differ within a room.
option(FOVEA_UNITY "compile twenty files of a room as one" ON)
option(FOVEA_PRECOMPILE "compile the headers of libraries only once" ON)

set(FOVEA_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional>
    <map> <memory> <mutex> <optional> <random> <span> <string> <string_view> <unordered_map> <vector>)

function(fovea_precompiled_set name kind)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cpp.in "int main() {}\n")
  configure_file(${CMAKE_BINARY_DIR}/${name}.cpp.in ${CMAKE_BINARY_DIR}/${name}.cpp COPYONLY)
  if(kind STREQUAL "program")
    add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
  endif()
  fovea_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  target_precompile_headers(${name} PRIVATE ${FOVEA_STANDARD_HEADERS} ${ARG_HEADERS})
endfunction()

function(fovea_precompile target set)
  if(FOVEA_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${set})
  endif()
endfunction()

if(FOVEA_PRECOMPILE)
  set(json nlohmann_json::nlohmann_json)
  fovea_precompiled_set(fovea_pch_rooms library LIBS fmt::fmt ${json}
                        HEADERS <fmt/format.h> <nlohmann/json.hpp>)
  if(FOVEA_TESTS)
    fovea_precompiled_set(fovea_pch_tests program LIBS ${json} GTest::gtest
                          HEADERS <nlohmann/json.hpp> <gtest/gtest.h>)
    target_compile_options(fovea_pch_tests PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endif()
