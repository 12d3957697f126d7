# After `cmake --install`, a C++ user writes find_package(fovea) and links fovea::fovea, or asks
# `pkg-config fovea`; a user of the program has its man page and the completions of three shells.
include(CMakePackageConfigHelpers)
get_property(rooms GLOBAL PROPERTY FOVEA_ROOMS)
add_library(fovea_all INTERFACE)
set_target_properties(fovea_all PROPERTIES EXPORT_NAME fovea)
foreach(room ${rooms})
  if(NOT room STREQUAL "fovea_cli" AND NOT room STREQUAL "fovea_bench")
    target_link_libraries(fovea_all INTERFACE ${room})
    list(APPEND installed ${room})
  endif()
endforeach()
install(TARGETS fovea_all ${installed} EXPORT foveaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS fovea RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT foveaTargets NAMESPACE fovea:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/foveaConfig.cmake.in
  ${CMAKE_BINARY_DIR}/foveaConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/foveaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/foveaConfig.cmake ${CMAKE_BINARY_DIR}/foveaConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)

# Static libraries: each stands before those it needs, and theirs follow.
set(FOVEA_PC_LIBS "")
foreach(room ${installed})
  set(FOVEA_PC_LIBS "-l${room} ${FOVEA_PC_LIBS}")
endforeach()
file(RELATIVE_PATH FOVEA_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # wherever it is installed to
configure_file(${CMAKE_SOURCE_DIR}/cmake/fovea.pc.in ${CMAKE_BINARY_DIR}/fovea.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/fovea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Headers: what fovea/fovea.h reaches, asked at install time, so that no list has to be kept.
install(CODE "set(FOVEA_ROOT \"${CMAKE_SOURCE_DIR}\")
set(FOVEA_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake)

# The program writes its own man page and completions.
set(texts ${CMAKE_BINARY_DIR}/texts)
function(fovea_install_text file folder)
  string(JOIN " " words ${ARGN})
  install(CODE "file(MAKE_DIRECTORY \"${texts}\")
execute_process(COMMAND \"$<TARGET_FILE:fovea>\" ${words} OUTPUT_FILE \"${texts}/${file}\"
                COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${texts}/${file} DESTINATION ${folder})
endfunction()
fovea_install_text(fovea.1 ${CMAKE_INSTALL_MANDIR}/man1 help --man)
fovea_install_text(fovea ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
fovea_install_text(_fovea ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
fovea_install_text(fovea.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
