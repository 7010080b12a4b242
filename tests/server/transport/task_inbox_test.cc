#include "server/transport/http/task_inbox.h"

#include "gtest/gtest.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/transport/grpc/calls/steady_time.h"

namespace epsledger::transport {
namespace {

void RunWaitingTasks(TaskInbox& inbox) {
  for (TaskInbox::Task& task : inbox.Take(SteadyNow())) std::move(task)();
}

TEST(TaskInbox, GivesTasksInTheirOrderOnce) {
  TaskInbox inbox;
  std::string done;
  for (const char letter : {'a', 'b', 'c'}) {
    inbox.Post([&done, letter] { done += letter; });
  }
  EXPECT_EQ(done, "");
  RunWaitingTasks(inbox);
  RunWaitingTasks(inbox);
  EXPECT_EQ(done, "abc");
}

TEST(TaskInbox, WakesTheThreadThatWaits) {
  TaskInbox inbox;
  bool done = false;
  std::thread poster([&] { inbox.Post([&done] { done = true; }); });
  while (!done) {
    for (TaskInbox::Task& task : inbox.Take(absl::InfiniteDuration())) std::move(task)();
  }
  poster.join();
}

TEST(TaskInbox, DropsWhatIsInItAndWhatComesOnceItIsClosed) {
  TaskInbox inbox;
  const auto held = std::make_shared<int>(0);
  inbox.Post([held] { ++*held; });
  inbox.Close();
  inbox.Post([held] { ++*held; });
  EXPECT_EQ(held.use_count(), 1);
  RunWaitingTasks(inbox);
  EXPECT_EQ(*held, 0);
}

TEST(TaskOwner, TasksOfAnObjectThatHasGoneDoNotRun) {
  const auto inbox = std::make_shared<TaskInbox>();
  std::string done;
  std::optional<TaskOwner> gone(inbox);
  const TaskOwner stays(inbox);
  const TaskPoster poster_of_gone = gone->poster();
  poster_of_gone.Post([&done] { done += "1"; });
  RunWaitingTasks(*inbox);
  poster_of_gone.Post([&done] { done += "2"; });  // waits while its object goes
  stays.poster().Post([&done] { done += "3"; });
  gone.reset();
  poster_of_gone.Post([&done] { done += "4"; });
  RunWaitingTasks(*inbox);
  EXPECT_EQ(done, "13");
}

TEST(TaskOwner, ATaskMayEndItsOwnObject) {
  const auto inbox = std::make_shared<TaskInbox>();
  auto owner = std::make_unique<TaskOwner>(inbox);
  std::string done;
  owner->poster().Post([&] {
    owner = nullptr;
    done += "1";
  });
  RunWaitingTasks(*inbox);
  EXPECT_EQ(done, "1");
}

}  // namespace
}  // namespace epsledger::transport
