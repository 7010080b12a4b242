// Requests of every method as JSON over HTTP: the first byte chooses the method, the others are the
// body. They meet a real server whose ledger is as at first for every input: it answers in JSON,
// with a code that tells the client what to do, in time, and its ledger verifies.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/json_util.h"
#include "prometheus/registry.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "tests/fuzz/exchange.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/server/transport/good_requests.h"

namespace {

using epsledger::fuzz::FuzzedServer;
using epsledger::transport::HttpRoutes;
using epsledger::transport::HttpServer;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

const MethodDescriptor& MethodOf(uint8_t byte) {
  static const std::vector<const MethodDescriptor*>& methods =
      *new std::vector<const MethodDescriptor*>(epsledger::transport::AllMethods());
  return *methods[byte % methods.size()];
}

std::string StartHttp(FuzzedServer& fuzzed) {
  static auto& routes = *new HttpRoutes(fuzzed.ledger(), std::make_shared<prometheus::Registry>(),
                                        fuzzed.server().in_process());
  static HttpServer& server =
      *HttpServer::Start({.addresses = {"127.0.0.1:0"}, .peer_connections_per_second = 1e9},
                         routes.handler())
           ->release();
  return server.addresses()[0];
}

// The client waits for a second for a request that may compute for long.
std::string Post(const MethodDescriptor& method, const std::string& body) {
  return "POST /" + method.service()->full_name() + "/" + method.name() +
         " HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnect-timeout-ms: 1000\r\n"
         "connection: close\r\ncontent-length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

bool IsAsPromised(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  if (answer.compare(0, 9, "HTTP/1.1 ") != 0 || end == std::string::npos) return false;
  // A body that is no UTF-8 does not parse.
  const auto json = nlohmann::json::parse(answer.substr(end + 4), nullptr, false);
  if (!json.is_object()) return false;
  if (answer.compare(9, 3, "200") == 0) return true;
  if (!json.contains("code") || !json["code"].is_string() || !json.contains("message")) {
    return false;
  }
  return json["code"] != "internal" && json["code"] != "unknown";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Never destroyed: gRPC's threads may outlive what runs at exit.
  static auto& fuzzed = *new FuzzedServer();
  static const std::string& address = *new std::string(StartHttp(fuzzed));
  if (size == 0) return 0;
  fuzzed.Reset();
  const std::string answer = epsledger::fuzz::Exchange(
      address,
      Post(MethodOf(data[0]), std::string(reinterpret_cast<const char*>(data + 1), size - 1)));
  if (!IsAsPromised(answer)) {
    std::fprintf(stderr, "%s: %s\n", MethodOf(data[0]).full_name().c_str(), answer.c_str());
    std::abort();
  }
  fuzzed.CheckLedgers();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const MethodDescriptor& method = MethodOf(data[0]);
  const std::unique_ptr<Message> request(google::protobuf::MessageFactory::generated_factory()
                                             ->GetPrototype(method.input_type())
                                             ->New());
  std::string json(reinterpret_cast<const char*>(data + 1), size - 1);
  if (!google::protobuf::util::JsonStringToMessage(json, request.get()).ok()) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  epsledger::fuzz::MutateMessage(request.get(), random);
  json.clear();
  if (!google::protobuf::util::MessageToJsonString(*request, &json).ok() ||
      json.size() + 1 > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  json.copy(reinterpret_cast<char*>(data + 1), json.size());
  return json.size() + 1;
}
