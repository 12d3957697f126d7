# Rivals that `fovea bench` runs beside our own kernels, as programs of their own: never linked into
# fovea, and built only where they are installed. (oneDNN's own CMake file asks for OpenCL, which is
# not needed: header and library are looked for directly.)
find_path(DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
if(DNNL_INCLUDE AND DNNL_LIBRARY AND NOT FOVEA_SANITIZE)
  file(STRINGS ${DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h dnnl_major REGEX "DNNL_VERSION_MAJOR [0-9]")
  if(dnnl_major MATCHES "MAJOR 2")  # Debian 12's; the interface of version 3 is another
    add_executable(fovea-onednn-peer bench/peers/onednn_peer.cpp)
    target_include_directories(fovea-onednn-peer PRIVATE ${DNNL_INCLUDE})
    target_link_libraries(fovea-onednn-peer PRIVATE ${DNNL_LIBRARY})
    target_compile_options(fovea-onednn-peer PRIVATE ${FOVEA_WARNINGS})
  endif()
endif()
