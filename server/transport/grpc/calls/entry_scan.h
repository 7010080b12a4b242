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

// Reads the first entries of a ledger for one call, in pages, each between two commits, so that no
// charge waits for long. The computation pool processes the entries.
class EntryScan : public std::enable_shared_from_this<EntryScan> {
 public:
  // Takes the next entry. Returns false to stop.
  using Visit = absl::AnyInvocable<bool(const core::Entry&)>;
  // Called at the end: OK after the last entry or after `visit` returned false; DATA_LOSS if the
  // next entry cannot be read or is missing. Not called if nobody waits for the answer any more.
  using Finish = absl::AnyInvocable<void(const absl::Status&) &&>;

  // Visits entries 1 to `last_sequence`. REQUIRES: `ledger` outlives the scan.
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
  // Used by one step at a time, so never by two threads concurrently.
  int64_t after_sequence_ = 0;
  int64_t page_size_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ENTRY_SCAN_H_
