#include "fovea/cli/model_flags.h"

#include "fovea/cli/help.h"

namespace fovea {

void ModelFlags::add_to(CLI::App& verb) {
    verb.add_option("MODEL", folder_, "a model folder, such as run/model")->required();
    verb.add_option("--ensemble", others_,
                    "another model (again for more): the mean of their probabilities counts")
        ->allow_extra_args(false)  // one per flag, so that FILES may follow
        ->delimiter(',')
        ->group(more_group);
    verb.add_option("--precision", precision_, "of matrix products")
        ->check(CLI::IsMember({"f32", "bf16", "int8"}));
}

std::vector<Seq2SeqModel> ModelFlags::load(const std::string& task) const {
    const Format format = precision_ == "int8"   ? Format::int8
                          : precision_ == "bf16" ? Format::bf16
                                                 : Format::f32;
    std::vector<std::string> folders = {folder_};
    folders.insert(folders.end(), others_.begin(), others_.end());
    std::vector<Seq2SeqModel> models;
    for (const std::string& folder : folders) {
        models.push_back(Seq2SeqModel::load(folder, format));
        if (precision_ == "bf16") models.back().precision = Precision::bf16;
        if (!task.empty() && models.back().task != task)
            throw Error(folder + ": is a model to " + models.back().task + ", not to " + task,
                        ErrorKind::usage, "fovea " + models.back().task + " " + folder);
    }
    return models;
}

}  // namespace fovea
