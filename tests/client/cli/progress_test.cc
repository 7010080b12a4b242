#include "client/cli/print/progress.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace epsledger::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A stream that tells when something was written.
class Written : public std::streambuf {
 public:
  std::string WaitFor(const std::string& text) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto is_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return text_.find(text) != text_.npos;
    };
    mutex_.Await(absl::Condition(&is_there));
    return text_;
  }
  std::string text() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return text_;
  }

 protected:
  int_type overflow(int_type c) override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    text_ += traits_type::to_char_type(c);
    return c;
  }

 private:
  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

class ProgressTest : public ::testing::Test {
 protected:
  std::istringstream in_;
  std::ostringstream out_;
  Written written_;
  std::ostream err_{&written_};
  Terminal terminal_{.in = in_, .out = out_, .err = err_, .err_is_terminal = true};
};

TEST_F(ProgressTest, SaysWhatGoesOnAndWipesItAway) {
  {
    const Progress progress(terminal_, "calibrating", milliseconds(0));
    EXPECT_THAT(written_.WaitFor(" s"), ContainsRegex("calibrating [0-9]+ s"));
  }
  EXPECT_THAT(written_.text(), EndsWith("\r\033[K"));
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(ProgressTest, ShowsHowMuchIsDone) {
  Progress progress(terminal_, "exporting", milliseconds(0));
  progress.Report(5, 20);
  written_.WaitFor("exporting #####............... 5 of 20 ");
}

TEST_F(ProgressTest, SaysNothingOfWhatIsSoonOver) {
  { const Progress progress(terminal_, "calibrating", std::chrono::hours(1)); }
  EXPECT_THAT(written_.text(), IsEmpty());
}

TEST_F(ProgressTest, SaysNothingWhereNobodyLooks) {
  terminal_.err_is_terminal = false;
  { const Progress progress(terminal_, "calibrating", milliseconds(0)); }
  EXPECT_THAT(written_.text(), IsEmpty());
}

}  // namespace
}  // namespace epsledger::cli
