// Contexts: servers by name, in a file of the user.

#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/contexts/context_file.h"
#include "client/cli/epsctl.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    std::string pattern = ::testing::TempDir() + "/epsctl-config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/deep/contexts.json";
    setenv("EPSLEDGER_CONFIG", path_.c_str(), 1);
    for (const char* name : {"EPSLEDGER_SERVER", "EPSLEDGER_CONTEXT", "EPSLEDGER_TOKEN"}) {
      unsetenv(name);
    }
  }
  ~ConfigTest() override {
    unsetenv("EPSLEDGER_CONFIG");
    std::filesystem::remove_all(folder_);
  }

  static Outcome Run(const std::vector<std::string>& arguments) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{.in = in, .out = out, .err = err};
    const ExitCode code = RunEpsctl(arguments, terminal);
    return {code, out.str(), err.str()};
  }
  static Outcome Want(ExitCode code, const std::vector<std::string>& arguments) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return outcome;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }
  std::string Content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ConfigTest, ACommandUsesTheCurrentContext) {
  const FakeLedger here;
  const FakeLedger there;
  Want(ExitCode::kOk, {"config", "set", "here", "--server", here.address()});
  Want(ExitCode::kOk, {"config", "set", "there", "--server", there.address()});
  Want(ExitCode::kOk,
       {"budget", "create", "b", "--rho", "1", "--relation", "replace-one", "--privacy-unit", "x"});
  EXPECT_EQ(here.budget_requests().size(), 1u) << "the first one is the current one";
  Want(ExitCode::kOk, {"config", "use", "there"});
  Want(ExitCode::kNotFound, {"budget", "get", "b"});
  Want(ExitCode::kOk, {"--context", "here", "budget", "get", "b"});
  // A server that is said is used without the context.
  Want(ExitCode::kOk, {"--server", here.address(), "budget", "get", "b"});
  const Outcome both =
      Want(ExitCode::kUsage, {"--server", here.address(), "--context", "there", "budget", "list"});
  EXPECT_THAT(both.err, HasSubstr("want one of them"));
  Want(ExitCode::kOk, {"config", "remove", "there"});
  EXPECT_THAT(Want(ExitCode::kUsage, {"--context", "there", "budget", "list"}).err,
              HasSubstr("--context: got \"there\", which is not in "));
}

TEST_F(ConfigTest, KeepsFileNamesAndNoSecret) {
  setenv("EPSLEDGER_TOKEN", "epsl_secret", 1);
  Want(ExitCode::kOk, {"config", "set", "prod", "--server", "privacy.example.org:50551", "--tls-ca",
                       "/etc/ca.pem", "--token-file", "prod.token", "--tenant", "acme"});
  unsetenv("EPSLEDGER_TOKEN");
  EXPECT_THAT(Content(), Not(HasSubstr("epsl_secret")));
  const ContextFile file = ReadContexts(path_).value();
  EXPECT_EQ(file.current, "prod");
  const Context& context = file.contexts.at("prod");
  EXPECT_EQ(context.server, "privacy.example.org:50551");
  EXPECT_TRUE(context.tls) << "a file of an authority implies it";
  EXPECT_EQ(context.tls_ca, "/etc/ca.pem");
  EXPECT_EQ(context.token_file, (std::filesystem::current_path() / "prod.token").string());
  EXPECT_EQ(context.tenant, "acme");
  const Outcome secret = Want(
      ExitCode::kUsage, {"config", "set", "x", "--server", "h:1", "--token-file", "epsl_secret"});
  EXPECT_THAT(secret.err,
              AllOf(HasSubstr("want the name of a file"), Not(HasSubstr("epsl_secret"))));
}

TEST_F(ConfigTest, OnlyTheUserReadsAndChangesTheFile) {
  Want(ExitCode::kOk, {"config", "set", "a", "--server", "h:1"});
  EXPECT_EQ(ModeOf(path_), 0600u);
  EXPECT_EQ(ModeOf(folder_ + "/deep"), 0700u);
  chmod(path_.c_str(), 0644);
  Want(ExitCode::kOk, {"config", "set", "b", "--server", "h:2"});
  EXPECT_EQ(ModeOf(path_), 0600u) << "also after somebody loosened it";
  chmod(path_.c_str(), 0666);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"config", "list"}, {"budget", "list"}}) {
    EXPECT_THAT(Want(ExitCode::kUsage, command).err, HasSubstr("others may change it; chmod 600"));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/deep"), {}), 1)
      << "nothing unfinished is left";
}

TEST_F(ConfigTest, OthersCannotReplaceTheFile) {
  Want(ExitCode::kOk, {"config", "set", "a", "--server", "h:1"});
  const std::string folder = folder_ + "/deep";
  for (const mode_t mode : {0777u, 0770u, 0702u}) {
    chmod(folder.c_str(), mode);
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"config", "list"}, {"config", "set", "b", "--server", "h:2"}, {"budget", "list"}}) {
      EXPECT_THAT(Want(ExitCode::kUsage, command).err,
                  HasSubstr("others may replace it; chmod go-w " + folder));
    }
  }
  // Where the folder is sticky, others can add files but cannot take this one away.
  chmod(folder.c_str(), 01777);
  EXPECT_EQ(ReadContexts(path_).value().contexts.size(), 1u);
  // The first file is not put there either.
  chmod(folder.c_str(), 0777);
  std::filesystem::remove(path_);
  Want(ExitCode::kUsage, {"config", "set", "a", "--server", "h:1"});
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ConfigTest, WritesThroughALink) {
  const std::string kept = folder_ + "/kept";
  std::filesystem::create_directories(kept);
  std::filesystem::create_directories(folder_ + "/deep");
  std::filesystem::create_symlink("../kept/mine.json", path_);  // which does not exist yet
  Want(ExitCode::kOk, {"config", "set", "a", "--server", "h:1"});
  Want(ExitCode::kOk, {"config", "set", "b", "--server", "h:2"});
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(ReadContexts(kept + "/mine.json").value().contexts.size(), 2u);
  // Others may replace neither the file nor the link.
  for (const std::string& folder : {kept, folder_ + "/deep"}) {
    chmod(folder.c_str(), 0777);
    EXPECT_THAT(Want(ExitCode::kUsage, {"config", "list"}).err, HasSubstr("others may replace it"));
    chmod(folder.c_str(), 0700);
  }
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("contexts.json", path_);
  EXPECT_THAT(Want(ExitCode::kUsage, {"config", "list"}).err, HasSubstr("at most 40 links"));
}

TEST_F(ConfigTest, IsNoDirectory) {
  std::filesystem::create_directories(path_);
  EXPECT_THAT(Want(ExitCode::kUsage, {"config", "list"}).err, HasSubstr("Is a directory"));
}

TEST_F(ConfigTest, ADryRunChangesNoContext) {
  EXPECT_THAT(Want(ExitCode::kUsage, {"--dry-run", "config", "set", "a", "--server", "h:1"}).err,
              HasSubstr("--dry-run: this command has no such form"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  Want(ExitCode::kOk, {"config", "set", "a", "--server", "h:1"});
  const std::string before = Content();
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"config", "set", "b", "--server", "h:2"},
                                             {"config", "use", "a"},
                                             {"config", "use", "no-such-context"},
                                             {"config", "remove", "a"}}) {
    std::vector<std::string> dry = command;
    dry.insert(dry.begin(), "--dry-run");
    EXPECT_THAT(Want(ExitCode::kUsage, dry).err,
                HasSubstr("--dry-run: this command has no such form"));
  }
  EXPECT_EQ(Content(), before);
  Want(ExitCode::kOk, {"--dry-run", "config", "list"});
}

TEST_F(ConfigTest, NamesHaveNoControlCharacters) {
  for (const char* name : {"x\033[31m", "x\r", "x\ny", "x\302\233", ""}) {
    const Outcome outcome = Want(ExitCode::kUsage, {"config", "set", name, "--server", "h:1"});
    EXPECT_THAT(outcome.err, HasSubstr("name: got "));
  }
  Want(ExitCode::kUsage, {"config", "set", "x", "--server", "h:1", "--tenant", "a\033[31m"});
  EXPECT_FALSE(std::filesystem::exists(path_));
  Want(ExitCode::kOk, {"config", "set", "Zürich 1", "--server", "h:1"});
}

TEST_F(ConfigTest, SaysWhatIsWrong) {
  EXPECT_THAT(Want(ExitCode::kOk, {"config", "list"}).out, "[]\n");
  Want(ExitCode::kOk, {"config", "set", "production", "--server", "h:1"});
  EXPECT_THAT(Want(ExitCode::kUsage, {"config", "use", "prodction"}).err,
              HasSubstr("got \"prodction\", want perhaps production"));
  EXPECT_THAT(Want(ExitCode::kUsage, {"config", "set", "x"}).err,
              HasSubstr("--server: got nothing"));
  EXPECT_THAT(Want(ExitCode::kUsage, {"config", "set", "x", "--server", "http://h:1"}).err,
              HasSubstr("as h:1"));
  for (const char* content :
       {"", "{", "[]", R"({"contexts": {"a": {"server": 1}}})", R"({"contexts": {"a": []}})",
        R"({"contexts": {"a": {"token": "epsl_secret"}}})"}) {
    std::ofstream(path_) << content;
    const Outcome outcome = Want(ExitCode::kUsage, {"config", "list"});
    EXPECT_THAT(outcome.err, HasSubstr(path_)) << content;
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(ConfigTest, TheFileIsWhereTheVariablesSay) {
  EXPECT_EQ(ContextPath(), path_);
  unsetenv("EPSLEDGER_CONFIG");
  setenv("XDG_CONFIG_HOME", "/xdg", 1);
  EXPECT_EQ(ContextPath(), "/xdg/epsledger/contexts.json");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", "/home/x", 1);
  EXPECT_EQ(ContextPath(), "/home/x/.config/epsledger/contexts.json");
  unsetenv("HOME");
  EXPECT_EQ(ContextPath(), "");
}

}  // namespace
}  // namespace epsledger::cli
