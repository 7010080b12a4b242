// Requests of every method: the first byte chooses the method, the others are the request's. They
// meet a real server whose ledger is as at first for every input: it answers with a code that
// tells the client what to do, in time, and its ledger verifies.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/server/transport/good_requests.h"

namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

const MethodDescriptor& MethodOf(uint8_t byte) {
  static const std::vector<const MethodDescriptor*>& methods =
      *new std::vector<const MethodDescriptor*>(epsledger::transport::AllMethods());
  return *methods[byte % methods.size()];
}

// Mathematics, which takes up to a minute with sanitizers.
bool Computes(const MethodDescriptor& method) {
  if (method.service()->name() == "AccountingService" || method.name() == "CreateSession") {
    return true;
  }
  for (const char* what : {"Guarantees", "PrivacyProfile", "TradeOffCurve", "PrivacyStatement"}) {
    if (method.name().find(what) != std::string::npos) return true;
  }
  return false;
}

std::chrono::milliseconds PatienceFor(const MethodDescriptor& method) {
  // A watch may wait for what does not come.
  if (method.server_streaming()) return std::chrono::milliseconds(20);
  return Computes(method) ? std::chrono::seconds(1) : std::chrono::seconds(60);
}

bool MayAnswer(const MethodDescriptor& method, grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ABORTED:             // a fenced attempt
    case grpc::StatusCode::DATA_LOSS:           // a head that this ledger never had
    case grpc::StatusCode::RESOURCE_EXHAUSTED:  // too large
    case grpc::StatusCode::UNIMPLEMENTED:       // mathematics that is not proved
      return true;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return method.server_streaming() || Computes(method);
    case grpc::StatusCode::UNAVAILABLE:  // too many computations wait
      return Computes(method);
    default:
      return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Never destroyed: gRPC's threads may outlive what runs at exit.
  static auto& server = *new epsledger::fuzz::FuzzedServer();
  if (size == 0) return 0;
  const MethodDescriptor& method = MethodOf(data[0]);
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  server.Reset();
  const grpc::Status status = server.Call(method, bytes, PatienceFor(method));
  if (!MayAnswer(method, status.error_code())) {
    std::fprintf(stderr, "%s: %d %s\n", method.full_name().c_str(), status.error_code(),
                 status.error_message().c_str());
    std::abort();
  }
  server.CheckLedgers();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const MethodDescriptor& method = MethodOf(data[0]);
  const std::unique_ptr<Message> request(google::protobuf::MessageFactory::generated_factory()
                                             ->GetPrototype(method.input_type())
                                             ->New());
  if (!request->ParsePartialFromArray(data + 1, static_cast<int>(size - 1))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  for (unsigned int changes = 1 + random() % 3; changes > 0; --changes) {
    epsledger::fuzz::MutateMessage(request.get(), random);
  }
  const std::string bytes = request->SerializePartialAsString();
  if (bytes.size() + 1 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(reinterpret_cast<char*>(data + 1), bytes.size());
  return bytes.size() + 1;
}
