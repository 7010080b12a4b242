#include "client/cli/print/live_view.h"

#include <iterator>
#include <list>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "client/cli/interrupt.h"
#include "client/cpp/watch_changes.h"

namespace epsledger::cli {
namespace {

constexpr absl::Duration kLookAgain = absl::Seconds(2);
// Changes within this time are drawn together.
constexpr absl::Duration kTogether = absl::Milliseconds(50);
// Each watch takes a thread and a stream. Resources without a watch are still read every two
// seconds.
constexpr size_t kMostWatches = 64;

// What the watches report to the drawer. Thread-safe.
class Bell {
 public:
  enum class Call { kChanged, kEnded };

  void Ring() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    rung_ = true;
  }
  void End(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!ended_) end_ = std::move(status);
    ended_ = true;
  }
  // Waits for a ring, the end, or the time to look again.
  Call Wait() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return rung_ || ended_; };
    mutex_.AwaitWithTimeout(absl::Condition(&woken), kLookAgain);
    mutex_.AwaitWithTimeout(absl::Condition(&ended_), kTogether);
    rung_ = false;
    return ended_ ? Call::kEnded : Call::kChanged;
  }
  absl::Status end() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return end_;
  }

 private:
  mutable absl::Mutex mutex_;
  bool rung_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

// Watches of the shown resources, each on a thread. Their changes ring the bell.
class Watches {
 public:
  Watches(Connection& connection, Bell& bell) : connection_(connection), bell_(bell) {}
  ~Watches() {
    for (Canceller& canceller : cancellers_) canceller.Cancel();
    for (std::thread& thread : threads_) thread.join();
  }

  // Starts watches for the resources that have none, up to kMostWatches in all, and returns how
  // many it started.
  absl::StatusOr<int> Add(const std::vector<std::string>& names) {
    int added = 0;
    for (const std::string& name : names) {
      if (watched_.size() == kMostWatches || !watched_.insert(name).second) continue;
      v1::GetLedgerHeadRequest request;
      request.set_budget(name.substr(0, name.find("/sessions/")));
      ASSIGN_OR_RETURN(const v1::LedgerHead head,
                       connection_.Call(connection_.audit(),
                                        &v1::AuditService::StubInterface::GetLedgerHead, request));
      ++added;
      cancellers_.emplace_back();
      threads_.emplace_back([this, name, after = head.sequence(), &canceller = cancellers_.back()] {
        const absl::Status end =
            WatchChanges(connection_, name, after, canceller, [this](const auto& change) {
              if (change.change_case() != v1::LedgerChange::CHANGE_NOT_SET) bell_.Ring();
              return true;
            });
        if (!absl::IsCancelled(end)) bell_.End(end);
      });
    }
    return added;
  }

 private:
  Connection& connection_;
  Bell& bell_;
  std::set<std::string> watched_;
  std::list<Canceller> cancellers_;
  std::vector<std::thread> threads_;
};

// Shows drawings. Where it is not a terminal, shows only their new lines.
class Screen {
 public:
  explicit Screen(Terminal& terminal) : terminal_(terminal) {}

  // True if there was something to show.
  bool Replace(const std::string& drawing) {
    if (drawing == last_) return false;
    const bool first = last_.empty();
    last_ = drawing;
    terminal_.out << (terminal_.cursor ? "\033[H\033[2J"
                      : first          ? ""
                                       : "\n")
                  << drawing << "\nCtrl-C ends the watch.\n"
                  << std::flush;
    return true;
  }
  bool AddLines(const std::string& drawing) {
    std::set<std::string> lines;
    bool anything = false;
    for (const absl::string_view line : absl::StrSplit(drawing, '\n', absl::SkipEmpty())) {
      const bool is_new = !lines_.contains(std::string(line));
      if (is_new) terminal_.out << line << "\n";
      anything = anything || is_new;
      lines.insert(std::string(line));
    }
    lines_ = std::move(lines);
    terminal_.out << std::flush;
    return anything;
  }

 private:
  Terminal& terminal_;
  std::string last_;
  std::set<std::string> lines_;
};

}  // namespace

void LiveFlags::AddTo(CLI::App& command) {
  CLI::Option* option =
      command.add_flag("-w,--watch", watch, "show it again on every change, until Ctrl-C");
  command.add_option("--limit", limit, "end after this many drawings")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->needs(option);
}

void Show(Invocation& invocation, const LiveFlags& flags, const Draw& draw) {
  if (!flags.watch) {
    draw(invocation);
    return;
  }
  if (invocation.Format() == "csv") {
    return invocation.FailOffline(absl::InvalidArgumentError(
        "--watch: got the output csv, want table or jsonl: a stream has no single heading"));
  }
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  Bell bell;
  const Interrupt interrupt([&bell] { bell.End(absl::OkStatus()); });
  Watches watches(**connection, bell);
  Screen screen(invocation.terminal());
  int64_t drawn = 0;
  while (true) {
    std::ostringstream out;
    Terminal& real = invocation.terminal();
    Terminal terminal{.in = real.in,
                      .out = out,
                      .err = real.err,
                      .out_is_terminal = real.out_is_terminal,
                      .color = real.color,
                      .cursor = real.cursor,
                      .unicode = real.unicode,
                      .width = real.width};
    Invocation frame(invocation, terminal);
    const bool for_people = invocation.IsForPeople();
    if (!for_people) frame.flags().output = "jsonl";
    const std::optional<std::vector<std::string>> names = draw(frame);
    if (!names.has_value()) return invocation.set_exit_code(frame.exit_code());
    if (for_people ? screen.Replace(out.str()) : screen.AddLines(out.str())) ++drawn;
    if (drawn == flags.limit && drawn > 0) return;
    const absl::StatusOr<int> added = watches.Add(*names);
    if (!added.ok()) return invocation.Fail(added.status(), CallKind::kRead);
    // The next drawing shows what changed before its watch began.
    if (*added > 0) continue;
    if (bell.Wait() == Bell::Call::kEnded) break;
  }
  if (!bell.end().ok()) invocation.Fail(bell.end(), CallKind::kRead);
}

}  // namespace epsledger::cli
