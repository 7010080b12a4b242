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

// The findings of a replay of one stored ledger.
struct LedgerReport {
  std::string root_id;
  // The head of the entries; with a fault, the head before it.
  core::LedgerHead head;
  core::Hash merkle_root{};
  // The number of references and prices in units that were proved again, if that was requested.
  int64_t proved_prices = 0;
  // Sequence 0: the fault does not concern a single entry.
  std::optional<core::LedgerFault> fault;
};

using VisitEntry = absl::FunctionRef<void(const std::string& root_id, const core::Entry&)>;

// Writes an export file: the header in the constructor, then every added entry, then the trailer.
// REQUIRES: `out` outlives this object.
class ExportWriter {
 public:
  ExportWriter(std::ostream& out, const std::string& root_id);
  void Add(const core::Entry& entry);
  // UNAVAILABLE if anything could not be written.
  absl::Status Finish(const core::LedgerHead& head, const core::Hash& merkle_root);

 private:
  std::ostream& out_;
};

// Reads an export file and replays it. `visit` gets every correct entry, in order; an error of
// `visit` stops the reading and is returned. The report has a fault if the file is damaged
// anywhere, cut off, or continued after its last line. Memory: the ledger's and one line.
absl::StatusOr<LedgerReport> ReadExport(
    std::istream& in,
    absl::FunctionRef<absl::Status(const std::string& root_id, const core::Entry&)> visit,
    core::PriceCheck prices = core::PriceCheck::kStored);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_EXPORT_FILE_H_
