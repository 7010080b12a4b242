#ifndef EPSLEDGER_SERVER_HEADS_HEAD_PUBLISHER_H_
#define EPSLEDGER_SERVER_HEADS_HEAD_PUBLISHER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/core/durable_ledger.h"
#include "server/heads/heads_file.h"
#include "server/heads/signed_heads.h"
#include "server/statement/signing_key.h"

namespace epsledger::heads {

// Publishes the heads of all ledgers, signed, whenever they have changed: at the start, every
// `interval`, and at the end. Published heads are kept outside the server's own disk: a store that
// does not contain them has lost entries, whatever the store itself says.
class HeadPublisher {
 public:
  struct Options {
    std::string file;  // empty: none
    // Receives each line as the body of a POST. http or https; empty: no URL.
    std::string url;
    absl::Duration interval = absl::Seconds(60);
  };

  // Returns INVALID_ARGUMENT, naming the flag, for a URL that is neither http nor https, and for a
  // path that cannot be a file.
  static absl::Status Check(const Options& options);

  // REQUIRES: `ledger` outlives this; Check says OK.
  HeadPublisher(core::DurableLedger& ledger, statement::SigningKey key, Options options);
  // Publishes once more, in two seconds at most.
  ~HeadPublisher();
  HeadPublisher(const HeadPublisher&) = delete;
  HeadPublisher& operator=(const HeadPublisher&) = delete;

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  void PublishIfChanged();
  // Returns nullopt while the ledger cannot be read.
  std::optional<Heads> ReadHeads();
  absl::Status Post(const std::string& line);
  // A callback of libcurl: returns whether to abort a POST because the server stops.
  static int IsToEnd(void* self, int64_t, int64_t, int64_t, int64_t);
  // Logs when a failure begins and when it ends.
  void Note(const char* flag, const std::string& place, const absl::Status& status);

  core::DurableLedger& ledger_;
  const statement::SigningKey key_;
  const Options options_;
  const std::optional<HeadsFile> file_;
  std::map<std::string, core::NamedEntry> published_;  // by ledger; in every place
  std::map<std::string, bool> failing_;                // by flag
  bool is_last_ = false;                               // used by the thread alone
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace epsledger::heads

#endif  // EPSLEDGER_SERVER_HEADS_HEAD_PUBLISHER_H_
