#include "client/cli/flags/label_flags.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace epsledger::cli {

CLI::Option* AddLabelFlag(CLI::App& command, std::vector<std::string>& labels) {
  return command.add_option("--label", labels, "for people and programs; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

absl::Status AddLabels(const std::vector<std::string>& labels,
                       google::protobuf::Map<std::string, std::string>* message) {
  for (const std::string& label : labels) {
    const size_t equals = label.find('=');
    if (equals == label.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label: got \"", label, "\", want KEY=VALUE"));
    }
    const std::string key = label.substr(0, equals);
    if (!message->insert({key, label.substr(equals + 1)}).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label: got the key \"", key, "\" twice, want each once"));
    }
  }
  return absl::OkStatus();
}

CLI::Option* AddThresholdFlag(CLI::App& command, std::vector<double>& thresholds) {
  return command
      .add_option("--alert-at", thresholds,
                  "shares of the cap at which to alert somebody, rising, in (0, 1]")
      ->type_name("X,X,...")
      ->delimiter(',');
}

std::vector<std::string> SamplerNames() {
  std::vector<std::string> names;
  const auto* samplers = v1::Provenance::Sampler_descriptor();
  for (int i = 0; i < samplers->value_count(); ++i) {
    if (samplers->value(i)->number() == v1::Provenance::SAMPLER_UNSPECIFIED) continue;
    names.push_back(
        absl::StrReplaceAll(absl::AsciiStrToLower(samplers->value(i)->name()), {{"_", "-"}}));
  }
  return names;
}

v1::Provenance::Sampler SamplerNamed(const std::string& name) {
  v1::Provenance::Sampler sampler = v1::Provenance::SAMPLER_UNSPECIFIED;
  v1::Provenance::Sampler_Parse(absl::StrReplaceAll(absl::AsciiStrToUpper(name), {{"-", "_"}}),
                                &sampler);
  return sampler;
}

}  // namespace epsledger::cli
