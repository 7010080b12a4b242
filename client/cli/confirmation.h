#ifndef EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_
#define EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_

#include <string>

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"

namespace epsledger::cli {

// The flag of what cannot be taken back.
class Confirmation {
 public:
  // Adds --yes.
  void AddTo(CLI::App& command);

  // True if --yes was given: what will happen is not shown.
  bool is_given_before() const { return yes_; }

  // True if --yes was given, or somebody at a terminal answered the question with "y" or "yes".
  // Otherwise Fails: with a usage error where there is nobody to ask. `what` is what will happen,
  // without a question mark.
  bool IsGiven(Invocation& invocation, const std::string& what) const;

 private:
  bool yes_ = false;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_
