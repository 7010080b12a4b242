#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace epsledger::transport {

struct HealthProbeOptions {
  // "127.0.0.1:50551", "unix:/run/epsledger.sock".
  std::string address;
  // PEM files. With a CA the probe speaks TLS; with certificate and key it also identifies itself.
  std::string tls_ca_file;
  std::string tls_certificate_file;
  std::string tls_key_file;
  absl::Duration timeout = absl::Seconds(5);
};

// Calls grpc.health.v1.Health/Check for the server as a whole. Returns OK if the answer is SERVING;
// otherwise UNAVAILABLE with the answer, or with the reason why there is none.
absl::Status ProbeHealth(const HealthProbeOptions& options);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_
