// Bad input to every RPC: the methods, their fields and the values are taken from the descriptors,
// so that a new method or field is covered the day it is added.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/limits.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/good_requests.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using ::testing::HasSubstr;

// What a request with one bad value may be answered.
enum class Want {
  kInvalid,  // INVALID_ARGUMENT, whatever the method
  kDefinite  // anything that tells the client what to do: the value is good in some field
};

struct Mutation {
  std::string what;
  Want want;
  std::function<void(Message*)> apply;
};

class BadInput : public ::testing::Test {
 protected:
  // The methods make tokens, which turn access control on; here it is about requests.
  BadInput() : server_({.addresses = {"127.0.0.1:0"}, .insecure_no_access_control = true}) {
    client().MakeSession("zcdp { rho: 100 }");
    EXPECT_TRUE(client().CreateSession("b", "other").ok());
    EXPECT_TRUE(client().CreateBudget("spare", "pure_epsilon { epsilon: 9 }").ok());
    EXPECT_TRUE(client().CreateSession("spare", "s").ok());
    EXPECT_TRUE(WaitingClient(*server_.ledger)
                    .Run(core::ProposeChange{
                        .budget_id = "spare",
                        .proposal_id = "q",
                        .change = core::ProposedPolicy{{core::GuardedChange::kLiftQuarantine}},
                        .reason = "x",
                        .proposer = {"another person", {}},
                        .expire_time_micros = absl::ToUnixMicros(absl::Now() + absl::Hours(1))})
                    .ok());
    const core::TokenSpec spare{.id = "spare",
                                .expire_time_micros = absl::ToUnixMicros(absl::InfiniteFuture()),
                                .secret_hash = std::string(32, 'h')};
    EXPECT_TRUE(WaitingClient(*server_.ledger)
                    .Run(core::AccessCommand{core::CreateToken{.spec = spare}})
                    .ok());
  }
  TestClient& client() { return server_.client; }

  void ExpectHealthy() {
    const auto reply = client().Charge(kAttempt, "healthy-" + std::to_string(next_++),
                                       "gaussian { noise_multiplier: 100 }", 1);
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
  }

  // What the bytes are answered, on a stream: the first answer.
  grpc::Status Call(const MethodDescriptor& method, const std::string& bytes) {
    if (!method.server_streaming()) return client().CallBytes(method.full_name(), bytes);
    std::string answer;
    const grpc::Status status = client().StreamBytes(method.full_name(), bytes, &answer);
    v1::ChargeResult result;
    if (!status.ok() || !method.client_streaming() || !result.ParseFromString(answer) ||
        !result.has_error()) {
      return status;
    }
    return grpc::Status(static_cast<grpc::StatusCode>(result.error().code()),
                        result.error().message(), result.error().SerializeAsString());
  }

  // Sends the bytes and checks the answer.
  void ExpectAnswer(const MethodDescriptor& method, const std::string& bytes, Want want,
                    const std::string& what) {
    const grpc::Status status = Call(method, bytes);
    const std::string label = method.full_name() + ", " + what + ": " +
                              std::to_string(status.error_code()) + " " + status.error_message();
    if (GoodRequests().count(ShortName(method)) == 0) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << label;
      EXPECT_THAT(status.error_message(), HasSubstr("not in this version: " + method.name()))
          << label;
      return;
    }
    EXPECT_LE(status.error_message().size(), kMaxStatusMessageBytes) << label;
    if (want == Want::kInvalid) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << label;
    }
    switch (status.error_code()) {
      case grpc::StatusCode::INVALID_ARGUMENT: {
        google::rpc::BadRequest bad;
        ASSERT_TRUE(FindDetail(status, &bad)) << label;
        EXPECT_FALSE(bad.field_violations(0).field().empty()) << label;
        EXPECT_FALSE(bad.field_violations(0).description().empty()) << label;
        break;
      }
      case grpc::StatusCode::OK:
      case grpc::StatusCode::NOT_FOUND:
      case grpc::StatusCode::ALREADY_EXISTS:
      case grpc::StatusCode::FAILED_PRECONDITION:
      case grpc::StatusCode::DATA_LOSS:      // a position ahead of the ledger
      case grpc::StatusCode::UNIMPLEMENTED:  // mathematics that is not proved
        break;
      default:
        ADD_FAILURE() << label;
    }
  }

  TestServer server_;
  int next_ = 0;
};

// A step down from a request to a message inside it.
using Path = std::function<Message*(Message*)>;

void AddBadValues(const FieldDescriptor* field, bool set, const std::string& name, const Path& path,
                  std::vector<Mutation>* mutations) {
  const auto add = [&](const std::string& what, Want want, auto change) {
    mutations->push_back({name + " = " + what, want, [path, change](Message* request) {
                            Message* message = path(request);
                            change(message->GetReflection(), message);
                          }});
  };
  const auto with_double = [&](double value, Want want) {
    add(std::to_string(value), want, [field, value](const auto* reflection, Message* message) {
      reflection->SetDouble(message, field, value);
    });
  };
  const auto with_string = [&](const std::string& what, const std::string& value, Want want) {
    add(what, want, [field, value](const auto* reflection, Message* message) {
      reflection->SetString(message, field, value);
    });
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      for (const double value :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
            -std::numeric_limits<double>::infinity(), -1e-300, -1e308}) {
        with_double(value, Want::kInvalid);
      }
      for (const double value : {0.0, 1.0, 1e308, 5e-324}) with_double(value, Want::kDefinite);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      for (const int64_t value : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()}) {
        // Zero says nothing in a field that need not be set, every position is one of a ledger, and
        // no guess of an attack need be right.
        const bool position = field->name() == "after_sequence";
        const bool may_be_zero = !set || position || field->name() == "correct";
        const bool good = (value == 0 && may_be_zero) || (value > 0 && position);
        add(std::to_string(value), good ? Want::kDefinite : Want::kInvalid,
            [field, value](const auto* reflection, Message* message) {
              reflection->SetInt64(message, field, value);
            });
      }
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      for (const int32_t value :
           {-1, 1001, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
        add(std::to_string(value), Want::kInvalid,
            [field, value](const auto* reflection, Message* message) {
              reflection->SetInt32(message, field, value);
            });
      }
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      for (const int value : {99, -1, std::numeric_limits<int32_t>::max()}) {
        add(std::to_string(value), Want::kInvalid,
            [field, value](const auto* reflection, Message* message) {
              reflection->SetEnumValue(message, field, value);
            });
      }
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      with_string("64 KiB", std::string(1 << 16, 'a'), Want::kInvalid);
      with_string("text that is not UTF-8", "a\xff\xfe", Want::kInvalid);
      with_string("nothing", "", Want::kDefinite);
      with_string("control characters", std::string("a\n\0\x1b[2J", 7), Want::kDefinite);
      with_string("C1",
                  "a\xc2\x9b"
                  "2J",
                  Want::kDefinite);
      with_string("an override",
                  "a\xe2\x80\xae"
                  "b",
                  Want::kDefinite);
      with_string("a path", "../../../etc/passwd", Want::kDefinite);
      with_string("SQL", "'; DROP TABLE entries; --", Want::kDefinite);
      break;
    default:
      break;
  }
}

// Every mutation of `message` (an example of what `path` leads to) and of what is inside it.
void AddMutations(const Message& message, const std::string& name, const Path& path,
                  std::vector<Mutation>* mutations) {
  mutations->push_back({name + " with an unknown field", Want::kInvalid, [path](Message* request) {
                          Message* m = path(request);
                          m->GetReflection()->MutableUnknownFields(m)->AddVarint(1000, 1);
                        }});
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const std::string at = name + "." + field->name();
    const bool set = field->is_repeated() ? reflection->FieldSize(message, field) > 0
                                          : reflection->HasField(message, field);
    if (set) {
      mutations->push_back({at + " cleared", Want::kDefinite, [path, field](Message* request) {
                              Message* m = path(request);
                              m->GetReflection()->ClearField(m, field);
                            }});
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!set) continue;  // an alternative, or filled in by the server
      // Durations and masks have rules of their own, and tests of their own.
      if (field->message_type()->file()->package() == "google.protobuf") continue;
      const Path inner = [path, field](Message* request) {
        Message* m = path(request);
        return field->is_repeated() ? m->GetReflection()->MutableRepeatedMessage(m, field, 0)
                                    : m->GetReflection()->MutableMessage(m, field);
      };
      AddMutations(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, 0)
                                        : reflection->GetMessage(message, field),
                   at, inner, mutations);
    } else if (!field->is_repeated() && (set || field->real_containing_oneof() == nullptr)) {
      AddBadValues(field, set, at, path, mutations);
    }
  }
}

TEST_F(BadInput, EveryMethodIsCoveredAndTakesItsGoodRequest) {
  size_t of_this_version = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const grpc::Status status = Call(*method, GoodRequest(*method)->SerializeAsString());
    if (GoodRequests().count(ShortName(*method)) > 0) {
      ++of_this_version;
      // There is no quarantine to be lifted, and no statement was signed.
      auto want = grpc::StatusCode::OK;
      if (ShortName(*method) == "AuditService.LiftQuarantine") {
        want = grpc::StatusCode::FAILED_PRECONDITION;
      } else if (ShortName(*method) == "AuditService.RecordSignOff") {
        want = grpc::StatusCode::INVALID_ARGUMENT;
      }
      EXPECT_EQ(status.error_code(), want) << ShortName(*method) << ": " << status.error_message();
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << ShortName(*method);
    }
  }
  EXPECT_EQ(of_this_version, GoodRequests().size());
}

TEST_F(BadInput, EveryBadValueInEveryFieldOfEveryMethodIsNamed) {
  int sent = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const std::unique_ptr<Message> good = GoodRequest(*method);
    std::vector<Mutation> mutations;
    AddMutations(
        *good, "request", [](Message* request) { return request; }, &mutations);
    for (const Mutation& mutation : mutations) {
      const std::unique_ptr<Message> bad(good->New());
      bad->CopyFrom(*good);
      mutation.apply(bad.get());
      ExpectAnswer(*method, bad->SerializeAsString(), mutation.want, mutation.what);
      ++sent;
    }
    ExpectHealthy();
  }
  EXPECT_GT(sent, 700);
}

TEST_F(BadInput, BytesThatAreNoMessageAreInvalid) {
  for (const MethodDescriptor* method : AllMethods()) {
    ExpectAnswer(*method, std::string(100, '\xff'), Want::kInvalid, "garbage");
    ExpectAnswer(*method, "\x0a\x7f", Want::kInvalid, "a text that is cut off");
    ExpectAnswer(*method, "\x0b", Want::kInvalid, "a group that is never closed");
    ExpectAnswer(*method, "", Want::kDefinite, "nothing");
  }
  ExpectHealthy();
}

// A field that holds itself `depth` times: number 1 or 2 of a message inside the event.
std::string NestedEvents(int depth) {
  std::string event;  // unset
  for (int i = 0; i < depth; ++i) {
    // self_composed (21) { event (1) }
    v1::MechanismEvent outer;
    std::string body = "\x0a";
    const auto append_varint = [](std::string* out, size_t value) {
      for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
      out->push_back(static_cast<char>(value));
    };
    append_varint(&body, event.size());
    body += event;
    event = "\xaa\x01";
    append_varint(&event, body.size());
    event += body;
  }
  return event;
}

TEST_F(BadInput, DeepNestingIsRefusedByTheConverterOrTheParser) {
  for (const int depth : {17, 45, 100, 1'000, 10'000}) {
    for (const char* name : {"ChargeService.Charge", "ChargeService.PreviewCharge"}) {
      const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
          "epsledger.v1." + std::string(name));
      std::unique_ptr<Message> request = GoodRequest(*method);
      const auto* field = request->GetDescriptor()->FindFieldByName("event");
      request->GetReflection()->ClearField(request.get(), field);
      const std::string event = NestedEvents(depth);
      request->GetReflection()
          ->MutableUnknownFields(request.get())
          ->AddLengthDelimited(field->number(), event);
      ExpectAnswer(*method, request->SerializeAsString(), Want::kInvalid,
                   "depth " + std::to_string(depth));
    }
    ExpectHealthy();
  }
}

TEST_F(BadInput, AMessageThatIsTooLargeIsRefusedAndTheServerLives) {
  std::string bytes = "\x0a";
  const std::string id(kMaxRequestBytes, 'a');
  bytes += std::string("\x80\x80\x40", 3) + id;  // field 1, 2^20 bytes
  const grpc::Status status = client().CallBytes("epsledger.v1.BudgetService.GetBudget", bytes);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  ExpectHealthy();
}

TEST_F(BadInput, AMessageThatIsCompressedIsRefusedBeforeItIsUnpacked) {
  const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      "epsledger.v1.BudgetService.CreateBudget");
  const std::string good = GoodRequest(*method)->SerializeAsString();
  // A request that is whole without compression, repeated; and one that unpacks to 128 times the
  // most.
  for (const std::string& bytes :
       {good + std::string(1000, '\xff'), std::string(size_t{kMaxRequestBytes} << 5, 'a')}) {
    for (const auto& [algorithm, name] :
         {std::pair(GRPC_COMPRESS_GZIP, "gzip"), std::pair(GRPC_COMPRESS_DEFLATE, "deflate")}) {
      const grpc::Status status = client().CallBytes(method->full_name(), bytes, algorithm);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
      EXPECT_THAT(status.error_message(), testing::HasSubstr(name));
    }
  }
  ExpectHealthy();
}

TEST_F(BadInput, AMethodThatDoesNotExistIsUnimplemented) {
  EXPECT_EQ(client().CallBytes("epsledger.v1.BudgetService.Nothing", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  ExpectHealthy();
}

}  // namespace
}  // namespace epsledger::transport
