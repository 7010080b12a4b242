#ifndef EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_
#define EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_

#include <string>

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"

namespace epsledger::cli {

// The flag of commands that cannot be undone.
class Confirmation {
 public:
  // Adds --yes.
  void AddTo(CLI::App& command);

  // True if --yes was given. What will happen is then not shown.
  bool is_given_before() const { return yes_; }

  // Returns true if --yes was given, or if somebody at a terminal answered the question with "y" or
  // "yes". Otherwise Fails, with a usage error if nobody can be asked. `what` says what will
  // happen, without a question mark.
  bool IsGiven(Invocation& invocation, const std::string& what) const;

 private:
  bool yes_ = false;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_CONFIRMATION_H_
