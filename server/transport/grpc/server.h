#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_SERVER_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_SERVER_H_

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/registry.h"
#include "server/access/access_control.h"
#include "server/access_log/access_log.h"
#include "server/core/durable_ledger.h"
#include "server/metrics/rpc_metrics.h"
#include "server/transport/grpc/calls/admission.h"
#include "server/transport/grpc/calls/computation_pool.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "server/transport/grpc/calls/pricing_ledger.h"
#include "server/transport/grpc/calls/quota_ledger.h"
#include "server/transport/grpc/calls/read_rate.h"
#include "server/transport/grpc/calls/service_methods.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/standard/health_service.h"
#include "server/transport/wire/wire_server.h"

namespace epsledger::transport {

struct ServerOptions {
  // "127.0.0.1:50551", "[::1]:0" (any port), "unix:/run/epsledger.sock". At least one.
  std::vector<std::string> addresses;
  // PEM files, read again when they change. Set both certificate and key, or neither for plaintext
  // only.
  std::string tls_certificate_file;
  std::string tls_key_file;
  // If set, clients must show a certificate that this CA signed; its subject may identify them.
  std::string tls_client_ca_file;
  // Accepts plaintext also on addresses that other machines can reach.
  bool insecure_plaintext = false;
  // Other machines can reach the server in another way than `addresses`: over HTTP.
  bool others_can_reach = false;
  // Access control is on even if only this machine can reach the server and no token exists.
  bool require_tokens = false;
  // Everybody may do everything.
  bool insecure_no_access_control = false;
  // Offers reflection to everybody, known or not. If not set: on if access control is off at the
  // start.
  std::optional<bool> reflection = std::nullopt;
  // The file of the key that signs privacy statements; created if it is missing. Empty: a key that
  // ends with the server.
  std::string statement_key_file;
  // The former keys, whose signatures and tags are still valid. Each file must exist.
  std::vector<std::string> former_statement_key_files;
  // The server's name in statements: printable, at most 128 bytes. Empty: statements name only its
  // key.
  std::string name;
  // How ServerInfo describes where the ledgers are stored.
  std::string storage = "memory";
  Quotas quotas;
  // How fast one peer may open connections (ConnectionRate). 0: the default for gRPC.
  double peer_connections_per_second = 0;
  // Another source of callers; nullptr: none. REQUIRES: it outlives the server.
  access::IdentityProvider* identity_provider = nullptr;
  // Records every call that has ended; nullptr: none. REQUIRES: it outlives the server.
  access_log::AccessLog* access_log = nullptr;
  // The registry that counts calls (metrics::RpcMetrics); nullptr: a private one.
  std::shared_ptr<prometheus::Registry> registry;
};

// How this process calls its own services. REQUIRES: the server outlives it.
struct InProcess {
  const ServiceMethods& methods;
  // wire::WireServer::Probe.
  std::function<void(absl::AnyInvocable<void(const absl::Status&) &&>)> probe_wire;
};

// Returns true if only this machine can reach the address: a unix socket, 127.0.0.0/8, ::1,
// localhost.
bool IsLocalAddress(const std::string& address);

// The gRPC server: the services of epsledger.v1, health (following DurableLedger::Health) and, as
// ServerOptions says, reflection. Access control (server/access) is on if other machines can reach
// one of its addresses, if it is required, or if a token was ever created. Thread-safe.
class Server {
 public:
  // Starts to serve. INVALID_ARGUMENT for inconsistent options (plaintext on an address that others
  // can reach, a certificate without its key); UNAVAILABLE for an address that cannot be listened
  // on; NOT_FOUND for a file that cannot be read; FAILED_PRECONDITION for a statement key that
  // others may read. REQUIRES: `ledger` outlives the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       core::DurableLedger& ledger);
  // Calls Drain without patience.
  ~Server();

  // Returns its addresses, with the chosen port in place of 0.
  const std::vector<std::string>& addresses() const { return wire_->addresses(); }

  // Returns access to the services without a socket, for the HTTP side of this process.
  InProcess in_process();

  // Sets NOT_SERVING, takes no new calls, and waits for the open ones; streams take no more
  // requests, and watches end immediately. Calls that are still open after `patience` are answered
  // UNAVAILABLE: what they submitted counts as charged. Returns when none is left. A second call
  // does nothing.
  void Drain(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Server(const ServerOptions& options, core::DurableLedger& ledger);
  absl::Status Listen(const ServerOptions& options);
  absl::Status ListenOnWire(const ServerOptions& options);
  // Answers calls that were held too long and tells the health service the health of the ledger.
  void KeepHouse() ABSL_LOCKS_EXCLUDED(mutex_);

  core::DurableLedger& ledger_;
  access::AccessControl access_;
  const Admission admission_;
  access_log::AccessLog* const access_log_;
  const std::shared_ptr<prometheus::Registry> registry_;
  const std::shared_ptr<metrics::RpcMetrics> metrics_;
  prometheus::Counter& reload_failures_;  // of registry_
  const std::shared_ptr<ReadRate> read_rate_;
  const std::shared_ptr<RefusalRate> refusal_rate_;
  OpenCalls open_calls_;
  const std::shared_ptr<OpenCalls> open_streams_;
  const std::shared_ptr<ComputationPool> computations_;
  PricingLedger priced_ledger_;
  QuotaLedger quota_ledger_;
  const std::shared_ptr<HealthService> health_;
  ServiceMethods methods_;
  std::unique_ptr<wire::WireServer> wire_;

  absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // After this time Drain waits for nothing.
  SteadyTime give_up_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  // A future waits by the steady clock; absl::Mutex does not.
  std::promise<void> drained_;
  const std::shared_future<void> when_drained_{drained_.get_future()};
  std::thread housekeeper_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_SERVER_H_
