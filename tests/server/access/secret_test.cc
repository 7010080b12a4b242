#include "server/access/secret.h"

#include "gtest/gtest.h"

#include <set>
#include <string>

#include "absl/strings/escaping.h"

namespace epsledger::access {
namespace {

TEST(Secret, IsNewEveryTimeAndOfTheFormThatIsLookedFor) {
  std::set<std::string> secrets;
  for (int i = 0; i < 1000; ++i) {
    const auto secret = MakeSecret();
    ASSERT_TRUE(secret.ok()) << secret.status();
    EXPECT_TRUE(IsSecret(*secret)) << *secret;
    secrets.insert(*secret);
  }
  EXPECT_EQ(secrets.size(), 1000u);
}

TEST(Secret, OtherTextIsNone) {
  const std::string body(43, 'a');
  EXPECT_TRUE(IsSecret("epsl_" + body));
  for (const std::string& text : {std::string(), std::string("epsl_"), "epsl_" + body + "a",
                                  "epsl_" + body.substr(1), "EPSL_" + body, body + "epsl_",
                                  "epsl_" + body.substr(1) + "=", "epsl_" + body.substr(1) + " "}) {
    EXPECT_FALSE(IsSecret(text)) << text;
  }
}

TEST(Secret, IsKeptAsItsSha256) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(absl::BytesToHexString(HashOfSecret("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace epsledger::access
