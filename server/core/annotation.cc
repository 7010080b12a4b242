#include "server/core/annotation.h"

#include <cmath>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/printable.h"

namespace epsledger::core {

const char* Name(AnnotationTopic topic) {
  switch (topic) {
    case AnnotationTopic::kDeploymentModel:
      return "DEPLOYMENT_MODEL";
    case AnnotationTopic::kActors:
      return "ACTORS";
    case AnnotationTopic::kDataDomain:
      return "DATA_DOMAIN";
    case AnnotationTopic::kUnprotectedQuantities:
      return "UNPROTECTED_QUANTITIES";
    case AnnotationTopic::kContributionBounding:
      return "CONTRIBUTION_BOUNDING";
    case AnnotationTopic::kParameterRationale:
      return "PARAMETER_RATIONALE";
    case AnnotationTopic::kDataCollection:
      return "DATA_COLLECTION";
    case AnnotationTopic::kPreprocessing:
      return "PREPROCESSING";
    case AnnotationTopic::kPostProcessing:
      return "POST_PROCESSING";
    case AnnotationTopic::kSecurity:
      return "SECURITY";
    case AnnotationTopic::kSideChannels:
      return "SIDE_CHANNELS";
    case AnnotationTopic::kIntendedUse:
      return "INTENDED_USE";
  }
  return "UNKNOWN_TOPIC";
}

bool operator==(const SignOff& a, const SignOff& b) {
  return a.signer == b.signer && a.role == b.role && a.comment == b.comment &&
         a.statement_sha256 == b.statement_sha256 && a.statement_sequence == b.statement_sequence &&
         a.epsilon == b.epsilon && a.delta == b.delta;
}

std::string Describe(const SignOff& sign_off) {
  const std::string epsilon =
      std::isfinite(sign_off.epsilon)
          ? absl::StrCat("epsilon ", accounting::FormatDouble(sign_off.epsilon))
          : "no epsilon";
  return absl::StrCat(accounting::Quoted(sign_off.signer), ", ", accounting::Quoted(sign_off.role),
                      ", answers for the statement ",
                      absl::BytesToHexString(sign_off.statement_sha256).substr(0, 16),
                      "... of entry ", sign_off.statement_sequence, ": ", epsilon, " at delta ",
                      accounting::FormatDouble(sign_off.delta));
}

}  // namespace epsledger::core
