#include "server/core/cap.h"

#include "absl/strings/str_format.h"

namespace epsledger::core {
namespace {

const char* Name(accounting::ApproximateDpFilter filter) {
  switch (filter) {
    case accounting::ApproximateDpFilter::kRenyiOrders:
      return "Renyi orders";
    case accounting::ApproximateDpFilter::kRenyiOneOrder:
      return "one Renyi order";
    case accounting::ApproximateDpFilter::kBasic:
      return "basic composition";
    case accounting::ApproximateDpFilter::kAdvanced:
      return "advanced composition";
    case accounting::ApproximateDpFilter::kZcdp:
      return "zCDP";
  }
  return "an unknown filter";
}

struct FilterBuilder {
  const std::string& path;
  absl::StatusOr<accounting::Filter> operator()(const PureEpsilonCap& cap) const {
    return accounting::PureDpFilter(cap.epsilon, path + ".pureEpsilon");
  }
  absl::StatusOr<accounting::Filter> operator()(const ApproximateDpCap& cap) const {
    return accounting::MakeApproximateDpFilter(cap.epsilon, cap.delta, cap.filter, cap.order,
                                               path + ".approximateDp");
  }
  absl::StatusOr<accounting::Filter> operator()(const ZcdpCap& cap) const {
    return accounting::ZcdpFilter(cap.rho, path + ".zcdp");
  }
  absl::StatusOr<accounting::Filter> operator()(const GaussianDpCap& cap) const {
    return accounting::GaussianDpFilter(cap.mu, path + ".gaussianDp");
  }
  absl::StatusOr<accounting::Filter> operator()(const RenyiCap& cap) const {
    return accounting::RenyiFilter(cap.order, cap.divergence, path + ".renyi");
  }
};

struct Describer {
  std::string operator()(const PureEpsilonCap& cap) const {
    return absl::StrFormat("%g-DP", cap.epsilon);
  }
  std::string operator()(const ApproximateDpCap& cap) const {
    return absl::StrFormat("(%g, %g)-DP by %s", cap.epsilon, cap.delta, Name(cap.filter));
  }
  std::string operator()(const ZcdpCap& cap) const { return absl::StrFormat("%g-zCDP", cap.rho); }
  std::string operator()(const GaussianDpCap& cap) const {
    return absl::StrFormat("%g-GDP", cap.mu);
  }
  std::string operator()(const RenyiCap& cap) const {
    return absl::StrFormat("(%g, %g)-RDP", cap.order, cap.divergence);
  }
};

}  // namespace

absl::StatusOr<accounting::Filter> FilterFor(const Cap& cap, const std::string& path) {
  return std::visit(FilterBuilder{path}, cap);
}

std::string Describe(const Cap& cap) { return std::visit(Describer{}, cap); }

}  // namespace epsledger::core
