#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_WIRE_SERVER_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_WIRE_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/transport/sockets/connection_counts.h"
#include "server/transport/sockets/peer_key.h"
#include "server/transport/tls/tls_files.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport::wire {

struct WireOptions {
  // "127.0.0.1:50551", "[::1]:0" (any port), "host.example:1", "unix:/run/epsledger.sock".
  std::vector<std::string> addresses;
  // Plaintext without a certificate.
  TlsFiles tls;
  RenewedTlsFiles::OnReload on_reload;
  // How fast one peer may connect (ConnectionRate).
  double peer_connections_per_second = 0;
};

// Returns as many connections as the process may have file descriptors for, after those of HTTP and
// of the ledger.
ConnectionLimits DefaultLimits();

// The listening side of gRPC. It serves HTTP/2 connections of clients on a few threads, and hands
// their calls to services of this process.
//
// Everything that a client can make it hold is bounded before anything is known about the client
// (limits.h): connections in all and of a peer, where a new one takes the place of an old
// stranger; headers; frames; incomplete requests; untaken answers. Thread-safe.
class WireServer {
 public:
  // Starts to accept connections. INVALID_ARGUMENT for an address that cannot be read, UNAVAILABLE
  // for one that cannot be listened on, the errors of ReadTlsFiles. REQUIRES: everything that
  // `services` uses outlives the server.
  static absl::StatusOr<std::unique_ptr<WireServer>> Start(WireOptions options, Services services);
  // Drops every connection. REQUIRES: the calls that it handed to the services are over.
  ~WireServer();

  // Returns its addresses, with the chosen port in place of 0.
  const std::vector<std::string>& addresses() const;

  // Checks whether a client would get an answer: connects to the first address, sends a hello and
  // waits for an answer, then asks every thread. Calls `done` once, on a thread of the server, with
  // OK, or with UNAVAILABLE and the reason, after kProbeTimeout at the latest if nothing answers.
  // Drops `done` if the server is destroyed first, or if a thread hangs. Concurrent callers share
  // one probe.
  void Probe(absl::AnyInvocable<void(const absl::Status&) &&> done);

  // Accepts no more connections and no more calls. When it returns, no further call goes to the
  // services; earlier calls are still answered.
  void GoAway();
  // Waits until the services have ended all calls, for `patience` at most. Returns how many have
  // not ended. REQUIRES: GoAway.
  int64_t AwaitEnded(absl::Duration patience);
  // Waits until the answers of all calls are taken, for `patience` at most. REQUIRES: GoAway.
  void AwaitTaken(absl::Duration patience);

 private:
  class State;
  explicit WireServer(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_WIRE_SERVER_H_
