#ifndef EPSLEDGER_CLIENT_CPP_CONNECTION_H_
#define EPSLEDGER_CLIENT_CPP_CONNECTION_H_

#include <chrono>
#include <memory>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/retry.h"
#include "client/cpp/rpc_status.h"
#include "epsledger/client.h"
#include "epsledger/v1/access_service.grpc.pb.h"
#include "epsledger/v1/accounting_service.grpc.pb.h"
#include "epsledger/v1/audit_service.grpc.pb.h"
#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "epsledger/v1/proposal_service.grpc.pb.h"
#include "epsledger/v1/server_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"

namespace epsledger {

// A channel with its stubs, deadlines and retries, for the library and for epsctl.
//
// Every call has its own deadline. The channel's own retries are off, so that RetryOptions alone
// decides how many tries are made. Thread-safe.
class Connection {
 public:
  // Does what Client::Connect documents.
  static absl::StatusOr<std::shared_ptr<Connection>> Open(const ClientOptions& options);

  // Makes one try of `(stub.*method)(request)`.
  template <class Stub, class Request, class Response>
  static absl::Status TryOnce(
      Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
      const Request& request, Response* response, std::chrono::nanoseconds timeout) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    return FromGrpc((stub.*method)(&context, request, response));
  }

  // Tries until the outcome is definite. For reads, and for writes that may be repeated without
  // harm.
  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) {
    Response response;
    const Tries tries = RetryUntilDefinite(retry(), [&](std::chrono::nanoseconds timeout) {
      response.Clear();
      return TryOnce(stub, method, request, &response, timeout);
    });
    if (!tries.last.ok()) return tries.last;
    return response;
  }

  const RetryOptions& retry() const { return retry_; }
  v1::AccessService::StubInterface& access() { return *access_; }
  v1::ProposalService::StubInterface& proposals() { return *proposals_; }
  v1::BudgetService::StubInterface& budgets() { return *budgets_; }
  v1::SessionService::StubInterface& sessions() { return *sessions_; }
  v1::ChargeService::StubInterface& charges() { return *charges_; }
  v1::AuditService::StubInterface& audit() { return *audit_; }
  v1::AccountingService::StubInterface& accounting() { return *accounting_; }
  v1::ServerService::StubInterface& server() { return *server_; }

 private:
  Connection(const std::shared_ptr<grpc::Channel>& channel, RetryOptions retry);

  RetryOptions retry_;
  std::unique_ptr<v1::AccessService::StubInterface> access_;
  std::unique_ptr<v1::ProposalService::StubInterface> proposals_;
  std::unique_ptr<v1::BudgetService::StubInterface> budgets_;
  std::unique_ptr<v1::SessionService::StubInterface> sessions_;
  std::unique_ptr<v1::ChargeService::StubInterface> charges_;
  std::unique_ptr<v1::AuditService::StubInterface> audit_;
  std::unique_ptr<v1::AccountingService::StubInterface> accounting_;
  std::unique_ptr<v1::ServerService::StubInterface> server_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_CONNECTION_H_
