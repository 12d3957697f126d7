# One library per room, one test program per room. Sources are globbed, so that adding a file to a
# room touches no CMake file; what a room may include is checked by tools/check_layers.py.
include(GNUInstallDirs)
set(FOVEA_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
# GCC 12 sees bounds broken inside std::string where none are (its bugs 105329, 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND FOVEA_WARNINGS -Wno-array-bounds -Wno-restrict)
endif()
# Same bits everywhere: the compiler may not fuse or reorder; fma is written out where it is meant.
set(FOVEA_NUMERICS -ffp-contract=off -fno-math-errno)
set(FOVEA_HARDENING $<$<CONFIG:Release>:-fstack-protector-strong -fstack-clash-protection
    -fcf-protection -D_FORTIFY_SOURCE=2>)
if(FOVEA_SANITIZE)
  add_compile_options(-fsanitize=${FOVEA_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FOVEA_SANITIZE})
  set(FOVEA_HARDENING "")
endif()
add_link_options($<$<CONFIG:Release>:LINKER:-z,relro,-z,now>)

function(fovea_options target)
  target_compile_options(${target} PRIVATE ${FOVEA_WARNINGS} ${FOVEA_NUMERICS} ${FOVEA_HARDENING})
  target_compile_features(${target} PUBLIC cxx_std_20)  # users of the library need it too
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# Tests at -O1: one that took 9.9 s to compile at -O2 takes 7.6 s, and GCC 12 warns of no phantom bounds.
function(fovea_test_options target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow)  # a phantom too
  endif()
  fovea_precompile(${target} fovea_pch_tests)
endfunction()

# fovea_room(NAME DEPS room... LIBS target...)
function(fovea_room name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/fovea/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${dir}/*_test.cpp)
  list(REMOVE_ITEM sources ${tests} ${dir}/main.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(fovea_${name} STATIC ${sources})
  set_target_properties(fovea_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(fovea::${name} ALIAS fovea_${name})
  fovea_options(fovea_${name})
  if(name STREQUAL "cli" AND FOVEA_PRECOMPILE)
    target_precompile_headers(fovea_cli PRIVATE ${FOVEA_STANDARD_HEADERS} <fmt/format.h>
                              <nlohmann/json.hpp> <CLI/CLI.hpp>)
  elseif(NOT name STREQUAL "kernels")  # these include little, and their own vector code
    fovea_precompile(fovea_${name} fovea_pch_rooms)
  endif()
  if(NOT name STREQUAL "kernels")  # (AMX code may not share inline code with other files)
    set_target_properties(fovea_${name} PROPERTIES UNITY_BUILD ${FOVEA_UNITY} UNITY_BUILD_BATCH_SIZE 20)
  endif()
  foreach(dep ${ARG_DEPS})
    if(TARGET fovea_${dep})
      target_link_libraries(fovea_${name} PUBLIC fovea_${dep})
    endif()
  endforeach()
  target_link_libraries(fovea_${name} PUBLIC ${ARG_LIBS})
  set_property(GLOBAL APPEND PROPERTY FOVEA_ROOMS fovea_${name})
  if(FOVEA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    fovea_options(${name}_test)
    fovea_test_options(${name}_test)
    target_link_libraries(${name}_test PRIVATE fovea_${name} GTest::gtest GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE FOVEA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    fovea_add_tests(${name} ${name}_test ${tests})
  endif()
endfunction()

# Two entries for one test program: the quick tests, and those named *Slow*, which run only with
# `ctest -C slow` (make test-slow). The second is made only where there are such tests.
function(fovea_add_tests name program)
  add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 --gtest_filter=-*Slow*)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800)  # kernels: every level, tiles by software
  foreach(file ${ARGN})
    file(STRINGS ${file} slow REGEX "^ *(TEST|TEST_F|TEST_P|TYPED_TEST)\\(.*Slow")
    if(slow)
      add_test(NAME ${name}_slow COMMAND ${program} --gtest_brief=1 --gtest_filter=*Slow*
               CONFIGURATIONS slow)
      set_tests_properties(${name}_slow PROPERTIES TIMEOUT 3600 LABELS slow)
      break()
    endif()
  endforeach()
endfunction()

# The tests of kernels and ops once more at every instruction set below the machine's best (which the
# plain run uses). Levels the machine lacks are skipped when the tests run (tests/at_isa.cpp).
function(fovea_add_isa_tests)
  if(NOT FOVEA_TESTS OR FOVEA_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  add_executable(at_isa ${CMAKE_SOURCE_DIR}/tests/at_isa.cpp)
  fovea_options(at_isa)
  target_link_libraries(at_isa PRIVATE fovea_kernels)
  foreach(level scalar avx2 avx512)
    foreach(room ${ARGN})
      if(TARGET ${room}_test)
        add_test(NAME ${room}_${level} COMMAND at_isa ${level} $<TARGET_FILE:${room}_test>
                                               --gtest_brief=1 --gtest_filter=-*Slow*)
        set_tests_properties(${room}_${level} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
      endif()
    endforeach()
  endforeach()
endfunction()
