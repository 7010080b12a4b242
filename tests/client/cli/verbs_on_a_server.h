#ifndef EPSLEDGER_TESTS_CLIENT_CLI_VERBS_ON_A_SERVER_H_
#define EPSLEDGER_TESTS_CLIENT_CLI_VERBS_ON_A_SERVER_H_

#include <google/protobuf/util/json_util.h>
#include "gtest/gtest.h"

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/epsctl.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::cli {

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

// A real server with a budget "adult" of pure epsilon 100 and its session "adult/run-1".
class LedgerVerbsTest : public ::testing::Test {
 protected:
  LedgerVerbsTest() {
    Want(ExitCode::kOk,
         {"budget", "create", "adult", "--pure-epsilon", "100", "--relation", "add-or-remove-one",
          "--privacy-unit", "person", "--label", "team=vision", "--label", "tier=1", "--alert-at",
          "0.5,0.9", "--partition", "hash(id) mod 4"});
    Want(ExitCode::kOk, {"session", "create", "adult/run-1", "--relation", "add-or-remove-one",
                         "--no-own-cap", "--group", "sweep", "--claim", "proven",
                         "--claimed-epsilon", "1", "--claim-source", "Theorem 3"});
  }

  Outcome Run(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--server", server_.server->addresses()[0]});
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{.in = in, .out = out, .err = err, .out_is_terminal = is_terminal_};
    const ExitCode code = RunEpsctl(arguments, terminal);
    return {code, out.str(), err.str()};
  }
  std::string Want(ExitCode code, const std::vector<std::string>& arguments,
                   const std::string& input = "") {
    const Outcome outcome = Run(arguments, input);
    EXPECT_EQ(outcome.code, code) << arguments[0] << " " << arguments[1] << ": " << outcome.err;
    return outcome.out;
  }
  template <class Message>
  Message As(const std::string& json) {
    Message message;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &message).ok()) << json;
    return message;
  }

  transport::TestServer server_;
  bool is_terminal_ = false;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_TESTS_CLIENT_CLI_VERBS_ON_A_SERVER_H_
