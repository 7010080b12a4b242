// Export files: no crash, and whatever verifies is written back byte for byte.

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "server/storage/export_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger;  // NOLINT: one function
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream in(text);
  std::vector<core::Entry> entries;
  const absl::StatusOr<storage::LedgerReport> report =
      storage::ReadExport(in, [&](const std::string&, const core::Entry& entry) {
        entries.push_back(entry);
        return absl::OkStatus();
      });
  if (!report.ok()) std::abort();
  if (report->head.sequence != static_cast<int64_t>(entries.size()) && !report->fault.has_value()) {
    std::abort();
  }
  if (report->fault.has_value()) return 0;
  std::ostringstream out;
  storage::ExportWriter writer(out, report->root_id);
  for (const core::Entry& entry : entries) writer.Add(entry);
  if (!writer.Finish(report->head, report->merkle_root).ok() || out.str() != text) std::abort();
  return 0;
}
