#include "fovea/tasks/new_head.h"

#include "fovea/io/model_parameters.h"

namespace fovea {

std::shared_ptr<ParameterStore> load_but_heads(const BodyOfModel& body,
                                               ModelFolder::NewHead& report,
                                               const std::function<void(ParameterStore&)>& build) {
    const ModelWeights weights(body.folder);
    std::vector<NameRule> rules(body.rules.begin(), body.rules.end());
    for (const std::string& pattern : body.heads) rules.push_back({.on_disk = pattern});
    ParameterStore checked = shapes_of(weights, rules);
    for (const std::string& pattern : body.heads) checked.allow_new(pattern);
    build(checked);
    checked.finish(body.folder);
    report.made = checked.missing_names();
    auto store = std::make_shared<ParameterStore>(ParameterStore::Mode::load);
    load_parameters(weights, rules, *store, &checked);
    store->set_mode(ParameterStore::Mode::create);
    build(*store);
    return store;
}

}  // namespace fovea
