#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_

// Files that a run leaves: checkpoints, models, logs, scores. What an earlier run left was paid for
// with a budget, so that nothing here destroys it before there is something to put in its place.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace epsledger::trainers {

// OK if WriteDurably can write a file of this name. Changes no file that is there.
// FAILED_PRECONDITION with the path otherwise.
absl::Status CheckCanWrite(const std::string& path);

// Keeps what the file holds as PATH.previous as well, in place of what was kept there. OK without
// an effect if there is no file, or an empty one. FAILED_PRECONDITION with the path if it cannot be
// kept: then it must not be replaced.
absl::Status KeepPrevious(const std::string& path);

// Keeps, once in a run, what an earlier run left in a file that this one writes again and again.
class PreviousKeeper {
 public:
  // `continues`: the file is this run's own, which continues from it, and is not kept: the file of
  // the run before stays at PATH.previous.
  explicit PreviousKeeper(bool continues) : done_(continues) {}

  // KeepPrevious, until it was OK once. The file must not be replaced before that.
  absl::Status Keep(const std::string& path);

 private:
  bool done_;
};

// As KeepPrevious, and there is no file at `path` any more: for files that are written in place.
absl::Status SetAside(const std::string& path);

// The refusal of a run that would start from zero although the checkpoint at `path` is one of its
// session. FAILED_PRECONDITION.
absl::Status WouldStartOver(const std::string& path, const std::string& session);

// Makes `bytes` the content of the file: durable when it returns OK, and whole or as it was before
// whenever the process or the machine stops: a file of another name beside it, fsync, rename, fsync
// of the directory. A pipe or a device is written to as it is. FAILED_PRECONDITION with the path if
// it cannot be written.
absl::Status WriteDurably(const std::string& path, absl::string_view bytes);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_RESULT_FILE_H_
