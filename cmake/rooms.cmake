# The rooms from the ground up. DEPS are the doors of ARCHITECTURE.md.
fovea_room(base LIBS Threads::Threads fmt::fmt nlohmann_json::nlohmann_json PkgConfig::XXHASH ZLIB::ZLIB
           simdjson::simdjson)
fovea_room(kernels DEPS base LIBS PkgConfig::HWY)
fovea_room(tensor DEPS base)
fovea_room(autograd DEPS tensor base)
fovea_room(ops DEPS autograd tensor kernels base)
fovea_room(nn DEPS ops tensor base)
fovea_room(models DEPS nn ops tensor base)
fovea_room(text DEPS base LIBS PkgConfig::UTF8PROC PkgConfig::PCRE2 simdjson::simdjson)
fovea_room(io DEPS tensor base LIBS PkgConfig::XXHASH PkgConfig::PNG PkgConfig::JPEG PkgConfig::FLAC)
fovea_room(data DEPS io text tensor base LIBS PkgConfig::PUGIXML)
fovea_room(metrics DEPS base LIBS PkgConfig::UTF8PROC)
fovea_room(infer DEPS models nn ops text tensor base)
fovea_room(train DEPS metrics io data nn ops autograd tensor base)
fovea_room(tasks DEPS train infer metrics data io text models nn ops autograd tensor base)
fovea_room(inspect DEPS tasks train infer metrics data io text models nn ops autograd tensor base)
fovea_room(bench DEPS tasks train infer metrics data io text models nn ops autograd kernels tensor base)
fovea_room(cli DEPS bench inspect tasks train infer metrics data io text models nn ops autograd tensor base
           LIBS CLI11::CLI11)
target_compile_definitions(fovea_cli PRIVATE FOVEA_VERSION="${PROJECT_VERSION}")
target_compile_options(fovea_cli PRIVATE $<$<CONFIG:Release>:-O1>)  # nothing hot, and CLI11 is large

# Hot loops. Attention without -O3 is four times slower (GCC 12: its lambdas are not inlined).
foreach(room kernels text)
  target_compile_options(fovea_${room} PRIVATE $<$<CONFIG:Release>:-O3>)
endforeach()

fovea_add_isa_tests(kernels ops)

add_executable(fovea fovea/cli/main.cpp)
fovea_options(fovea)
target_link_libraries(fovea PRIVATE fovea_cli)
