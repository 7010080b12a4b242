#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ENTRY_SCAN_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ENTRY_SCAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/computation_pool.h"
#include "server/transport/grpc/calls/unary_call.h"

namespace epsledger::transport {

// Reads the first entries of a ledger for one call: in pages, each between two commits, so that no
// charge waits for long; what is done with them is done on the computation pool.
class EntryScan : public std::enable_shared_from_this<EntryScan> {
 public:
  // The next entry. False: enough was seen.
  using Visit = absl::AnyInvocable<bool(const core::Entry&)>;
  // The end: OK after the last entry or after `visit` said so; DATA_LOSS where the next one cannot
  // be read or is missing. Not called if nobody waits for the answer any more.
  using Finish = absl::AnyInvocable<void(const absl::Status&) &&>;

  // Entries 1 to `last_sequence`. REQUIRES: `ledger` outlives the scan.
  static void Start(core::DurableLedger& ledger, const std::shared_ptr<ComputationPool>& pool,
                    Call call, std::string budget_id, int64_t last_sequence, Visit visit,
                    Finish finish);

 private:
  EntryScan(core::DurableLedger& ledger, std::weak_ptr<ComputationPool> pool, Call call,
            std::string budget_id, int64_t last_sequence, Visit visit, Finish finish);
  void ReadPage();
  absl::Status TakePage(core::LedgerReader& reader);
  void VisitPage(const std::vector<core::Entry>& page);
  void End(const absl::Status& status);

  core::DurableLedger& ledger_;
  // Weak: the last owner of a pool must not be one of its own threads.
  const std::weak_ptr<ComputationPool> pool_;
  const Call call_;
  const std::string budget_id_;
  const int64_t last_sequence_;
  Visit visit_;
  Finish finish_;
  // One step at a time: no two threads at once.
  int64_t after_sequence_ = 0;
  int64_t page_size_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ENTRY_SCAN_H_
