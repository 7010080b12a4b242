#ifndef EPSLEDGER_SERVER_FLAGS_H_
#define EPSLEDGER_SERVER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/backup_commands.h"
#include "server/ledger_commands.h"
#include "server/oidc/oidc_provider.h"
#include "server/open_store.h"
#include "server/storage/group_commit_ledger.h"
#include "server/transport/grpc/health_probe.h"
#include "server/transport/grpc/server.h"

namespace epsledger {

enum class TokenTask { kNone, kCreate, kList, kRevoke };

struct TokenFlags {
  std::string tenant;
  std::string role;
  std::string description;
  int64_t days = 90;
  std::string name;  // of the token to revoke
};

// The command line and environment of epsledgerd. Every flag of the server is also a variable
// EPSLEDGERD_...; variables EPSLEDGER_... are for the clients.
struct Flags {
  // `epsledgerd token ...`: manages the tokens of a ledger without a server.
  TokenTask token_task = TokenTask::kNone;
  TokenFlags token;

  // `epsledgerd healthcheck`: asks a server for its health instead of starting one.
  bool healthcheck = false;
  transport::HealthProbeOptions probe{.address = "127.0.0.1:50551"};
  // `epsledgerd ledger`: works on ledgers that no server holds.
  LedgerCommand ledger_command;
  BackupCommand backup;

  StorePlace store;
  // For transport::ServerOptions. Empty: the key is in the data directory.
  std::string statement_key_file;
  // For heads::HeadPublisher::Options.
  std::string publish_heads_file;
  std::string publish_heads_url;
  int64_t publish_heads_seconds = 60;
  std::string address_file;
  // For storage::GroupCommitLedger::Options.
  size_t max_queue = storage::GroupCommitLedger::Options().max_queue;
  std::string log_level = "info";
  transport::ServerOptions server{.addresses = {"127.0.0.1:50551"}};
  // Empty: none.
  std::vector<std::string> http_addresses;
  // Nobody said the HTTP addresses: if they are taken, the server starts without them.
  bool http_addresses_are_default = false;
  std::vector<std::string> operations_addresses;
  // For transport::HttpRoutesOptions.
  std::vector<std::string> http_host_names;
  // Logs lines of JSON instead of text.
  bool json_log = false;
  // Empty without an issuer.
  oidc::OidcOptions oidc;
  // For access_log::AccessLog. Empty: no access log.
  std::string access_log_file;
  int64_t access_log_sample = 100;
};

// Fills `flags`. Returns nullopt if the program should continue. Otherwise prints the help or the
// error and returns the exit code.
std::optional<int> ReadFlags(int argc, char** argv, Flags* flags);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_FLAGS_H_
