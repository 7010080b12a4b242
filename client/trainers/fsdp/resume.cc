#include "client/trainers/fsdp/resume.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/state_file.h"
#include "client/trainers/run/ledger_flags.h"
#include "client/trainers/run/result_file.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {
namespace {

absl::Status CheckIdentity(const RunIdentity& identity, const std::string& settings,
                           const LedgerFlags& flags) {
  if (identity.budget != flags.budget || identity.session != flags.session) {
    return absl::InvalidArgumentError(
        absl::StrCat("--resume: the checkpoint is of --budget ", identity.budget, " --session ",
                     identity.session, ", got --budget ", flags.budget, " --session ",
                     flags.session, ": what it has released is charged there alone"));
  }
  if (identity.settings != settings) {
    return absl::InvalidArgumentError(absl::StrCat("--resume: the checkpoint was made with \"",
                                                   identity.settings, "\", got \"", settings,
                                                   "\""));
  }
  if (flags.noise_multiplier.value_or(identity.noise_multiplier) != identity.noise_multiplier) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--noise-multiplier: got ", *flags.noise_multiplier, ", want the checkpoint's ",
        ExactNumber(identity.noise_multiplier), " with --resume"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<TrainingState>> StateToContinueFrom(
    CommandLine& options, const network::Network<float>& network) {
  if (!options.checkpoint.empty() && !options.resume && !options.new_attempt) {
    const absl::StatusOr<RunIdentity> found = ReadIdentity(options.checkpoint);
    if (found.ok() && found->budget == options.ledger.budget &&
        found->session == options.ledger.session) {
      return WouldStartOver(options.checkpoint, found->session);
    }
  }
  if (!options.resume) return std::nullopt;
  ASSIGN_OR_RETURN(SavedRun kept, ReadStateFile(options.checkpoint, network));
  RETURN_IF_ERROR(CheckIdentity(kept.identity, SettingsText(options), options.ledger));
  options.ledger.noise_multiplier = kept.identity.noise_multiplier;
  return std::move(kept.state);
}

}  // namespace epsledger::trainers::fsdp
