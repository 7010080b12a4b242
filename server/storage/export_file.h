#ifndef EPSLEDGER_SERVER_STORAGE_EXPORT_FILE_H_
#define EPSLEDGER_SERVER_STORAGE_EXPORT_FILE_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/core/ledger_verifier.h"

namespace epsledger::storage {

// What a replay of one stored ledger found.
struct LedgerReport {
  std::string root_id;
  // The head of the entries; if there is a fault, of those before it.
  core::LedgerHead head;
  core::Hash merkle_root{};
  // References and prices in units that were proved again, as far as that was asked for.
  int64_t proved_prices = 0;
  // Sequence 0: what is wrong is no single entry.
  std::optional<core::LedgerFault> fault;
};

using VisitEntry = absl::FunctionRef<void(const std::string& root_id, const core::Entry&)>;

// Writes an export file: the header at once, then every entry that is added, then the trailer.
// REQUIRES: `out` outlives it.
class ExportWriter {
 public:
  ExportWriter(std::ostream& out, const std::string& root_id);
  void Add(const core::Entry& entry);
  // UNAVAILABLE if anything could not be written.
  absl::Status Finish(const core::LedgerHead& head, const core::Hash& merkle_root);

 private:
  std::ostream& out_;
};

// Reads an export file and replays it. `visit` gets every entry that is right, in order; its error
// stops the reading and is returned. A file that is damaged anywhere, cut off or continued after
// its last line has a fault. Memory: the ledger's and one line.
absl::StatusOr<LedgerReport> ReadExport(
    std::istream& in,
    absl::FunctionRef<absl::Status(const std::string& root_id, const core::Entry&)> visit,
    core::PriceCheck prices = core::PriceCheck::kStored);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_EXPORT_FILE_H_
