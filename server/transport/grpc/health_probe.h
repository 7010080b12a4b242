#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace epsledger::transport {

struct HealthProbeOptions {
  // "127.0.0.1:50551", "unix:/run/epsledger.sock".
  std::string address;
  // PEM files. With a CA the probe speaks TLS, with certificate and key it also shows who it is.
  std::string tls_ca_file;
  std::string tls_certificate_file;
  std::string tls_key_file;
  absl::Duration timeout = absl::Seconds(5);
};

// Asks grpc.health.v1.Health/Check of the server as a whole. OK if it says SERVING; UNAVAILABLE
// with what it said, or why it could not be asked.
absl::Status ProbeHealth(const HealthProbeOptions& options);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HEALTH_PROBE_H_
