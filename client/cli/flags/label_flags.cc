#include "client/cli/flags/label_flags.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace epsledger::cli {
namespace {

// Returns the values of an enumeration as flags write them, without the one for "not said".
std::vector<std::string> FlagNames(const google::protobuf::EnumDescriptor& values) {
  std::vector<std::string> names;
  for (int i = 0; i < values.value_count(); ++i) {
    if (values.value(i)->number() == 0) continue;
    names.push_back(
        absl::StrReplaceAll(absl::AsciiStrToLower(values.value(i)->name()), {{"_", "-"}}));
  }
  return names;
}

std::string ApiName(const std::string& flag_name) {
  return absl::StrReplaceAll(absl::AsciiStrToUpper(flag_name), {{"-", "_"}});
}

}  // namespace

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

std::vector<std::string> SamplerNames() { return FlagNames(*v1::Provenance::Sampler_descriptor()); }

v1::Provenance::Sampler SamplerNamed(const std::string& name) {
  v1::Provenance::Sampler sampler = v1::Provenance::SAMPLER_UNSPECIFIED;
  v1::Provenance::Sampler_Parse(ApiName(name), &sampler);
  return sampler;
}

std::vector<std::string> NormalizerNames() {
  return FlagNames(*v1::Provenance::Normalizer_descriptor());
}

v1::Provenance::Normalizer NormalizerNamed(const std::string& name) {
  v1::Provenance::Normalizer normalizer = v1::Provenance::NORMALIZER_UNSPECIFIED;
  v1::Provenance::Normalizer_Parse(ApiName(name), &normalizer);
  return normalizer;
}

}  // namespace epsledger::cli
