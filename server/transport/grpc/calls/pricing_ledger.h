#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_

#include <memory>

#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/computation_pool.h"

namespace epsledger::transport {

// A ledger that has the references and prices computed that a command wants, on the computation
// pool, and submits it again; otherwise it does as the one below. No outcome that comes out of it
// is PricesWanted. What was computed is remembered: most commands after the first want what another
// wanted before. Thread-safe.
class PricingLedger : public core::ForwardingLedger {
 public:
  PricingLedger(core::DurableLedger& ledger, std::shared_ptr<ComputationPool> computations);

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override;

 private:
  class Memory;
  static void SubmitPriced(core::DurableLedger& ledger, std::weak_ptr<ComputationPool> computations,
                           std::shared_ptr<Memory> memory, core::Tenant tenant,
                           core::Command command, int round, Reply reply);

  const std::shared_ptr<ComputationPool> computations_;
  const std::shared_ptr<Memory> memory_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_
