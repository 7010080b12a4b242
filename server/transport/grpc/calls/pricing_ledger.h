#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_

#include <memory>

#include "absl/time/time.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/computation_pool.h"

namespace epsledger::transport {

// A ledger in front of another one. If a command wants costs, references or prices, it computes
// them on the computation pool and submits the command again; otherwise it forwards. It never
// returns the outcome PricesWanted. It remembers results: most commands after the first want what
// an earlier one wanted. Thread-safe.
//
// The work is bounded. CANCELLED: the command was abandoned before everything was computed.
// INVALID_ARGUMENT: the events of a charge or preview take more than `max_pricing` of processor
// time to price. In both cases nothing was decided.
class PricingLedger : public core::ForwardingLedger {
 public:
  // Events of training take milliseconds.
  static constexpr absl::Duration kMaxPricing = absl::Seconds(20);

  PricingLedger(core::DurableLedger& ledger, std::shared_ptr<ComputationPool> computations,
                absl::Duration max_pricing = kMaxPricing);

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override;

 private:
  class Memory;
  class Passage;

  const std::shared_ptr<ComputationPool> computations_;
  const std::shared_ptr<Memory> memory_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_PRICING_LEDGER_H_
