#include "server/await_ledger.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/open_store.h"
#include "server/transport/http/http_server.h"
#include "server/transport/http/operations_routes.h"
#include "spdlog/spdlog.h"

namespace epsledger {
namespace {

constexpr timespec kPause = {.tv_sec = 1, .tv_nsec = 0};

}  // namespace

absl::StatusOr<std::unique_ptr<storage::GroupCommitLedger>> OpenLedger(
    const Flags& flags, const std::vector<core::NamedEntry>& published) {
  ASSIGN_OR_RETURN(auto store, OpenStore(flags.store));
  return storage::GroupCommitLedger::Open(std::move(store),
                                          {.max_queue = flags.max_queue, .published = published});
}

absl::StatusOr<std::unique_ptr<storage::GroupCommitLedger>> AwaitLedger(
    const Flags& flags, const std::vector<core::NamedEntry>& published,
    const sigset_t& stop_signals) {
  std::unique_ptr<transport::HttpServer> waiting;
  std::string told;
  while (true) {
    auto ledger = OpenLedger(flags, published);
    if (flags.store.postgres.empty() || !absl::IsUnavailable(ledger.status())) return ledger;
    const std::string reason =
        absl::StrCat("waiting for the database: ", std::string(ledger.status().message()));
    if (reason != told) {
      spdlog::warn("{}", reason);
      waiting = nullptr;  // frees its addresses
      ASSIGN_OR_RETURN(auto started, transport::HttpServer::Start(
                                         {.addresses = flags.http_addresses,
                                          .tls_certificate_file = flags.server.tls_certificate_file,
                                          .tls_key_file = flags.server.tls_key_file},
                                         transport::WaitingRoutes(reason)));
      waiting = std::move(started);
      told = reason;
    }
    if (sigtimedwait(&stop_signals, nullptr, &kPause) > 0) {
      return absl::CancelledError("stopped while it waited for the database");
    }
  }
}

}  // namespace epsledger
