#ifndef EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_
#define EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_

#include <string_view>
#include <vector>

namespace epsledger {

// A file of the dashboard, in the program for ever.
struct PackedFile {
  std::string_view path;        // "index.html"
  std::string_view compressed;  // by gzip
};

// Empty if the program was built without Node.js.
std::vector<PackedFile> PackedDashboard();

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_DASHBOARD_PACKED_DASHBOARD_H_
