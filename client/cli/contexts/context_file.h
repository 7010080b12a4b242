#ifndef EPSLEDGER_CLIENT_CLI_CONTEXTS_CONTEXT_FILE_H_
#define EPSLEDGER_CLIENT_CLI_CONTEXTS_CONTEXT_FILE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::cli {

// A server under a name, with how to reach it. It holds the names of files and no secret.
struct Context {
  std::string server;
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string token_file;
  // Whose budgets the token is for; empty: not said.
  std::string tenant;
};

// All contexts of a user.
struct ContextFile {
  std::string current;  // the name of the one that is used; empty: none
  std::map<std::string, Context> contexts;
};

// Returns the path of the user's file: EPSLEDGER_CONFIG, or else epsledger/contexts.json in
// XDG_CONFIG_HOME or in .config of HOME. Empty if none of the variables is set.
std::string ContextPath();

// Returns the content of the file; no contexts if it does not exist. INVALID_ARGUMENT if it cannot
// be read or is not what WriteContexts writes, and if others may change it, made it, or may replace
// it, or a link to it, because they may write in a folder without the sticky bit: they could send
// the user's token to a server of theirs. Only the folders of the file and of the links are looked
// at, not those above.
absl::StatusOr<ContextFile> ReadContexts(const std::string& path);

// Replaces the file, which its owner alone can read and write (mode 0600), and makes its folders
// (0700). A link stays, and the file that it leads to is replaced. A reader sees the old content or
// the new one. INVALID_ARGUMENT if others may replace it, as in ReadContexts.
absl::Status WriteContexts(const std::string& path, const ContextFile& file);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_CONTEXTS_CONTEXT_FILE_H_
