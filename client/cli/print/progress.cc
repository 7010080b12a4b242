#include "client/cli/print/progress.h"

#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/print/chart.h"

namespace epsledger::cli {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
constexpr char kWipe[] = "\r\033[K";

}  // namespace

Progress::Progress(Terminal& terminal, std::string what, std::chrono::milliseconds patience)
    : terminal_(terminal), what_(std::move(what)), start_(std::chrono::steady_clock::now()) {
  if (terminal_.err_is_terminal) thread_ = std::thread([this, patience] { Run(patience); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  thread_.join();
}

void Progress::Report(int64_t done, int64_t total) {
  absl::MutexLock lock(&mutex_);
  done_ = done;
  total_ = total;
}

void Progress::Run(std::chrono::milliseconds patience) {
  absl::MutexLock lock(&mutex_);
  bool shown = false;
  for (absl::Duration wait = absl::FromChrono(patience);
       !mutex_.AwaitWithTimeout(absl::Condition(&over_), wait); wait = kTick) {
    shown = true;
    terminal_.err << kWipe << Line() << std::flush;
  }
  if (shown) terminal_.err << kWipe << std::flush;
}

std::string Progress::Line() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_)
          .count();
  std::string line = absl::StrCat(what_, " ");
  if (total_ > 0) {
    const double share = static_cast<double>(done_) / static_cast<double>(total_);
    absl::StrAppend(&line, Bar(share, 0, terminal_.unicode), " ", done_, " of ", total_, " ");
  }
  return absl::StrCat(line, seconds, " s");
}

}  // namespace epsledger::cli
