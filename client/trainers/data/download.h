#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_DOWNLOAD_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_DOWNLOAD_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace epsledger::trainers {

// Time limits in seconds: to reach the server, and for one whole file.
inline constexpr int kConnectTimeoutSeconds = 5;
inline constexpr int kDownloadTimeoutSeconds = 60;

// Writes the body at an https URL to a file, or fails. The caller must not trust the content.
using DownloadFunction =
    std::function<absl::Status(const std::string& url, const std::string& destination)>;

// The DownloadFunction that runs `curl`, or `wget` where there is no curl: no shell, https only.
// Returns within kDownloadTimeoutSeconds plus a second, whatever the network does; a child process
// that takes longer is killed. On failure `destination` may hold a part of the body. NOT_FOUND:
// neither program is installed. UNAVAILABLE: the program failed, with its exit code.
// DEADLINE_EXCEEDED: it took too long. INVALID_ARGUMENT: not an https URL.
absl::Status Download(const std::string& url, const std::string& destination);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_DOWNLOAD_H_
