#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_ATTEMPT_FLAGS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_ATTEMPT_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"

namespace epsledger::cli {

// The flags that name the attempt to charge under, and what a new attempt declares about itself.
struct AttemptFlags {
  std::optional<int64_t> attempt;
  bool open_attempt = false;
  std::string sampler;
  double clip_norm = 0;
  std::string library;
  std::string library_version;
  std::string normalizer;

  // Adds --attempt, --open-attempt, --sampler, --clip-norm, --library, --library-version and
  // --normalizer.
  void AddTo(CLI::App& command);

  // Returns what a new attempt declares about itself.
  v1::Provenance Declared() const;

  // Returns the name of the attempt of `session`, a full name; opens one if --open-attempt is
  // given. Fails and returns nothing unless exactly one of --attempt and --open-attempt is given.
  std::optional<std::string> AttemptName(Invocation& invocation, const std::string& session) const;
};

// Returns "epsctl-" and 16 hexadecimal digits: another key each time.
std::string MakeKey();

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_ATTEMPT_FLAGS_H_
