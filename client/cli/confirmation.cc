#include "client/cli/confirmation.h"

#include <istream>
#include <ostream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {

void Confirmation::AddTo(CLI::App& command) {
  command.add_flag("-y,--yes", yes_, "do not ask; required if nobody can be asked");
}

bool Confirmation::IsGiven(Invocation& invocation, const std::string& what) const {
  // A dry run changes nothing.
  if (yes_ || invocation.flags().dry_run) return true;
  Terminal& terminal = invocation.terminal();
  if (!terminal.is_conversation()) {
    invocation.FailOffline(absl::InvalidArgumentError(
        absl::StrCat("--yes: got nothing, want it where nobody can be asked: ", what)));
    return false;
  }
  terminal.err << bridge::Printable(what) << ". Continue? [y/N] " << std::flush;
  std::string answer;
  std::getline(terminal.in, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  if (answer == "y" || answer == "yes") return true;
  invocation.FailOffline(absl::CancelledError("not done: the answer was not yes"));
  return false;
}

}  // namespace epsledger::cli
