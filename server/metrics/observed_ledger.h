#ifndef EPSLEDGER_SERVER_METRICS_OBSERVED_LEDGER_H_
#define EPSLEDGER_SERVER_METRICS_OBSERVED_LEDGER_H_

#include <memory>

#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"

namespace epsledger::metrics {

// A ledger that counts the commands and forwards them to the ledger below. Labels are kinds,
// decisions, reasons and codes, never a name that a client chose, so that no client can flood the
// monitoring with names. Thread-safe.
class ObservedLedger : public core::ForwardingLedger {
 public:
  // Replies may come after this object is destroyed.
  ObservedLedger(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry);

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override;

 private:
  struct Instruments;
  const std::shared_ptr<Instruments> instruments_;
};

}  // namespace epsledger::metrics

#endif  // EPSLEDGER_SERVER_METRICS_OBSERVED_LEDGER_H_
