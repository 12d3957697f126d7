# After `cmake --install`, a C++ user writes find_package(fovea) and links fovea::fovea.
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
install(DIRECTORY ${CMAKE_SOURCE_DIR}/fovea DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE PATTERN "bench" EXCLUDE)
install(EXPORT foveaTargets NAMESPACE fovea:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/foveaConfig.cmake.in
  ${CMAKE_BINARY_DIR}/foveaConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/foveaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/foveaConfig.cmake ${CMAKE_BINARY_DIR}/foveaConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
