#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVICE_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVICE_HANDLERS_H_

// The services of epsledger.v1. Each function adds the methods of one service to `methods`.
// REQUIRES: `methods` is destroyed before everything that `context` refers to.

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/calls/quota_ledger.h"
#include "server/transport/grpc/calls/service_methods.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// Serves the tokens of the caller's tenant, and the caller's identity.
void AddAccessService(const HandlerContext& context, ServiceMethods& methods);

void AddAccountingService(const HandlerContext& context, ServiceMethods& methods);

// Facts that do not change while a server runs.
struct ServerFacts {
  std::string version;
  std::string name;  // empty: the server has none
  std::string storage;
  Quotas quotas;
  absl::Time start_time;
  std::string statement_public_key;
  std::vector<std::string> former_statement_public_keys;
};

// `key` signs privacy statements, which name the server.
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
