#include "fovea/models/activation_names.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct NamedAct {
    const char* name;
    Act act;
};
// The first name of an activation is the one that is written.
constexpr NamedAct activations[] = {
    {"relu", Act::relu},          {"gelu", Act::gelu},
    {"gelu_new", Act::gelu_tanh}, {"gelu_pytorch_tanh", Act::gelu_tanh},
    {"swish", Act::swish},        {"silu", Act::swish},
    {"tanh", Act::tanh}};

}  // namespace

Act activation_named(const std::string& name, const char* key, const std::string& where) {
    for (const NamedAct& a : activations)
        if (name == a.name) return a.act;
    fail_with(ErrorKind::bad_input, "known are relu, gelu, gelu_new, swish, silu, tanh", where,
              ": unknown \"", key, "\" \"", name, "\"");
}

std::string config_name_of(Act act) {
    for (const NamedAct& a : activations)
        if (act == a.act) return a.name;
    fail("config: the activation ", name_of(act), " has no name in config.json");
}

}  // namespace fovea
