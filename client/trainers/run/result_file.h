#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_

// Result files of a run: checkpoints, models, logs, scores. An earlier run paid for its files with
// a budget, so nothing here destroys them before there is a replacement.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace epsledger::trainers {

// Returns OK if WriteDurably can write a file of this name. Changes no existing file.
// FAILED_PRECONDITION with the path otherwise.
absl::Status CheckCanWrite(const std::string& path);

// Also keeps the content of the file as PATH.previous, replacing an earlier PATH.previous. Returns
// OK without an effect if the file does not exist or is empty. FAILED_PRECONDITION with the path if
// the content cannot be kept: then the caller must not replace the file.
absl::Status KeepPrevious(const std::string& path);

// Keeps, once in a run, the content that an earlier run left in a file that this run writes
// repeatedly.
class PreviousKeeper {
 public:
  // `continues`: this run continues from the file, so the file is not kept, and the file of the
  // earlier run stays at PATH.previous.
  explicit PreviousKeeper(bool continues) : done_(continues) {}

  // Calls KeepPrevious until it has returned OK once. The file must not be replaced before that.
  absl::Status Keep(const std::string& path);

 private:
  bool done_;
};

// As KeepPrevious, and then removes the file at `path`: for files that are written in place.
absl::Status SetAside(const std::string& path);

// Returns the refusal of a run that would start from zero although the checkpoint at `path` belongs
// to its session: FAILED_PRECONDITION.
absl::Status WouldStartOver(const std::string& path, const std::string& session);

// Makes `bytes` the content of the file. The content is durable when this returns OK; if the
// process or the machine stops, the file holds either the old content or all of the new. The steps
// are: write a temporary file beside it, fsync, rename, fsync of the directory. A pipe or a device
// is written directly. FAILED_PRECONDITION with the path if the file cannot be written.
absl::Status WriteDurably(const std::string& path, absl::string_view bytes);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_
