#include "server/transport/grpc/ledger_services.h"

#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "epsledger/v1/session_service.pb.h"

namespace epsledger::transport {

using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

const std::vector<const ServiceDescriptor*>& LedgerServices() {
  static const auto& services = *new std::vector<const ServiceDescriptor*>([] {
    std::vector<const ServiceDescriptor*> found;
    // Found through a message of each file, so that the file is linked.
    for (const FileDescriptor* file :
         {v1::GetBudgetRequest::descriptor()->file(), v1::GetSessionRequest::descriptor()->file(),
          v1::ChargeRequest::descriptor()->file(), v1::ComputeRequest::descriptor()->file(),
          v1::ListDenialsRequest::descriptor()->file(), v1::GetCallerRequest::descriptor()->file(),
          v1::GetProposalRequest::descriptor()->file(),
          v1::GetServerInfoRequest::descriptor()->file()}) {
      for (int s = 0; s < file->service_count(); ++s) found.push_back(file->service(s));
    }
    return found;
  }());
  return services;
}

const std::vector<const MethodDescriptor*>& LedgerMethods() {
  static const auto& methods = *new std::vector<const MethodDescriptor*>([] {
    std::vector<const MethodDescriptor*> found;
    for (const ServiceDescriptor* service : LedgerServices()) {
      for (int m = 0; m < service->method_count(); ++m) found.push_back(service->method(m));
    }
    return found;
  }());
  return methods;
}

}  // namespace epsledger::transport
