#ifndef EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_
#define EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_

#include <string_view>
#include <vector>

namespace epsledger {

// A file of the dashboard; its data lives as long as the program.
struct PackedFile {
  std::string_view path;        // "index.html"
  std::string_view compressed;  // by gzip
};

// Returns no files if the program was built without Node.js.
std::vector<PackedFile> PackedDashboard();

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_
