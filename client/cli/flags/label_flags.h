#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_LABEL_FLAGS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_LABEL_FLAGS_H_

#include <string>
#include <vector>

#include <google/protobuf/map.h>
#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/v1/provenance.pb.h"

namespace epsledger::cli {

// Adds --label KEY=VALUE, which may be repeated.
CLI::Option* AddLabelFlag(CLI::App& command, std::vector<std::string>& labels);
// Returns INVALID_ARGUMENT for a label without "=", and for a key that is given twice.
absl::Status AddLabels(const std::vector<std::string>& labels,
                       google::protobuf::Map<std::string, std::string>* message);

// Adds --alert-at X,X,...
CLI::Option* AddThresholdFlag(CLI::App& command, std::vector<double>& thresholds);

// "poisson", "without-replacement", ... as the samplers of epsledger.v1.Provenance.
std::vector<std::string> SamplerNames();
// REQUIRES: one of SamplerNames().
v1::Provenance::Sampler SamplerNamed(const std::string& name);

// "public-constant", "expected-from-public-count", ... as the normalizers of
// epsledger.v1.Provenance.
std::vector<std::string> NormalizerNames();
// REQUIRES: one of NormalizerNames().
v1::Provenance::Normalizer NormalizerNamed(const std::string& name);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_LABEL_FLAGS_H_
