#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_CURVE_POINTS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_CURVE_POINTS_H_

#include <optional>
#include <vector>

#include <google/protobuf/repeated_field.h>
#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "client/cli/invocation.h"
#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::cli {

// The points at which a curve is computed, on the command line.
struct PointFlags {
  std::vector<double> at;
  std::optional<double> from;
  std::optional<double> to;
  std::optional<int> points;
  bool logarithmic = false;

  // Adds --at, --from, --to, --points and --logarithmic.
  void AddTo(CLI::App& command, const char* group);

  // Sets the list of a request, or its range; without either, the range from 0 to `usual_last`.
  // INVALID_ARGUMENT for both.
  template <class MutableRange>
  absl::Status Fill(double usual_last, google::protobuf::RepeatedField<double>* list,
                    const MutableRange& mutable_range) const {
    if (!at.empty()) {
      list->Add(at.begin(), at.end());
      return CheckNoRange();
    }
    FillRange(usual_last, mutable_range());
    return absl::OkStatus();
  }

 private:
  absl::Status CheckNoRange() const;
  void FillRange(double usual_last, v1::PointRange* range) const;
};

void PrintProfile(Invocation& invocation, const v1::GetPrivacyProfileResponse& profile);
void PrintTradeOff(Invocation& invocation, const v1::GetTradeOffCurveResponse& curve);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_CURVE_POINTS_H_
