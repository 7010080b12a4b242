#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVICE_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVICE_HANDLERS_H_

// The seven services of epsledger.v1. Each function adds the methods of one to `methods`. REQUIRES:
// `methods` is let go of before what `context` refers to.

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/calls/quota_ledger.h"
#include "server/transport/grpc/calls/service_methods.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// The tokens of the caller's tenant, and who the caller is.
void AddAccessService(const HandlerContext& context, ServiceMethods& methods);

void AddAccountingService(const HandlerContext& context, ServiceMethods& methods);

// What does not change while a server runs.
struct ServerFacts {
  std::string version;
  std::string name;  // empty: it has none
  std::string storage;
  Quotas quotas;
  absl::Time start_time;
  std::string statement_public_key;
  std::vector<std::string> former_statement_public_keys;
};

// Privacy statements are signed by `key` and name the server.
void AddAuditService(const HandlerContext& context,
                     std::shared_ptr<const statement::SigningKey> key, ServerFacts facts,
                     ServiceMethods& methods);

void AddBudgetService(const HandlerContext& context, ServiceMethods& methods);

void AddChargeService(const HandlerContext& context, ServiceMethods& methods);

void AddProposalService(const HandlerContext& context, ServiceMethods& methods);

void AddServerService(const HandlerContext& context, ServerFacts facts, ServiceMethods& methods);

void AddSessionService(const HandlerContext& context, ServiceMethods& methods);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVICE_HANDLERS_H_
