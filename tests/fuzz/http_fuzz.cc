// The bytes of an HTTP/1 connection to all routes, those behind which RPCs are called included: the
// server answers in HTTP or closes, in time, and serves whoever comes next.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "prometheus/registry.h"
#include "server/storage/group_commit_ledger.h"
#include "server/transport/grpc/server.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "tests/fuzz/exchange.h"
#include "tests/server/storage/memory_store.h"

namespace {

using epsledger::transport::HttpRoutes;
using epsledger::transport::HttpServer;
using epsledger::transport::Server;

std::string StartServer() {
  static auto& ledger = *epsledger::storage::GroupCommitLedger::Open(
                             std::make_unique<epsledger::storage::MemoryStore>(), {})
                             ->release();
  static Server& services = *Server::Start({.addresses = {"127.0.0.1:0"}}, ledger)->release();
  static auto& routes =
      *new HttpRoutes(ledger, std::make_shared<prometheus::Registry>(), services.in_process());
  static HttpServer& server =
      *HttpServer::Start({.addresses = {"127.0.0.1:0"}, .peer_connections_per_second = 1e9},
                         routes.handler())
           ->release();
  return server.addresses()[0];
}

bool StartsWith(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string& address = *new std::string(StartServer());
  const std::string answer = epsledger::fuzz::Exchange(
      address, std::string_view(reinterpret_cast<const char*>(data), size));
  const std::string health =
      epsledger::fuzz::Exchange(address, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  if ((!answer.empty() && !StartsWith(answer, "HTTP/1.")) ||
      !StartsWith(health, "HTTP/1.1 200 OK\r\n")) {
    std::fprintf(stderr, "answer:\n%s\nhealth:\n%s\n", answer.c_str(), health.c_str());
    std::abort();
  }
  return 0;
}
