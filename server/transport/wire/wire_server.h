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
  // Without a certificate it is plaintext.
  TlsFiles tls;
  RenewedTlsFiles::OnReload on_reload;
  // How fast one peer may connect (ConnectionRate).
  double peer_connections_per_second = 0;
};

// As many as the process may have file descriptors for, beside those of HTTP and of the ledger.
ConnectionLimits DefaultLimits();

// The listening side of gRPC: HTTP/2 connections of clients, on a few threads, whose calls it hands
// to services of this process.
//
// What a client can make it hold is bounded before anything is known of the client (limits.h):
// connections in all and of a peer, where a new one takes the place of the oldest stranger;
// headers; frames; requests that are not whole; answers that are not taken. Thread-safe.
class WireServer {
 public:
  // Starts to take connections. INVALID_ARGUMENT for an address that cannot be read, UNAVAILABLE
  // for one that cannot be listened on, the errors of ReadTlsFiles. REQUIRES: what `services` calls
  // outlives the server.
  static absl::StatusOr<std::unique_ptr<WireServer>> Start(WireOptions options, Services services);
  // Drops every connection. REQUIRES: the calls that it handed to the services are over.
  ~WireServer();

  // Where it listens, the chosen port in place of 0.
  const std::vector<std::string>& addresses() const;

  // Whether a client would be answered: connects to the first address, says hello and awaits an
  // answer, then asks every thread. `done` is called once, on a thread of the server: OK, or
  // UNAVAILABLE with the reason, after kProbeTimeout at the latest where nothing answers. It is
  // dropped where the server is destroyed before, or a thread hangs. Those who ask at one time
  // share one probe.
  void Probe(absl::AnyInvocable<void(const absl::Status&) &&> done);

  // Takes no more connections and no more calls. When it returns, no further call goes to the
  // services; those that did are still answered.
  void GoAway();
  // Waits until the services have ended all calls, for `patience` at most. A gRPC server that is
  // shut down before would end them itself. Returns how many have not ended. REQUIRES: GoAway.
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
