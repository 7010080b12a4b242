// Writes what the fuzz targets start from, one folder each, from the schema and from ledgers that
// lived: seed_corpora FOLDER.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/mechanism.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/client/trainers/data/made_jpeg_pack.h"
#include "tests/fuzz/http2_frames.h"
#include "tests/fuzz/stored_histories.h"
#include "tests/server/transport/good_requests.h"

namespace epsledger::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Corpora {
 public:
  explicit Corpora(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void Add(const std::string& target, const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(folder_ / target);
    std::ofstream out(folder_ / target / name, std::ios::binary);
    out << bytes;
    good_ = good_ && out.flush().good();
  }
  bool good() const { return good_; }

 private:
  const std::filesystem::path folder_;
  bool good_ = true;
};

std::string Json(const Message& message) {
  std::string json;
  return google::protobuf::util::MessageToJsonString(message, &json).ok() ? json : "";
}

// Sets every field: numbers to `value`, events to a Gaussian, lists to one element.
void Fill(double value, Message* message) {
  const auto* r = message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message->GetDescriptor()->field(i);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_DOUBLE:
        field->is_repeated() ? r->AddDouble(message, field, value)
                             : r->SetDouble(message, field, value);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        field->is_repeated() ? r->AddInt64(message, field, 2) : r->SetInt64(message, field, 2);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        if (!field->is_repeated()) r->SetString(message, field, "x");
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        Message* inner = field->is_repeated() ? r->AddMessage(message, field)
                                              : r->MutableMessage(message, field);
        if (auto* event = dynamic_cast<v1::MechanismEvent*>(inner)) {
          event->mutable_gaussian()->set_noise_multiplier(4);
        } else {
          Fill(value, inner);
        }
        break;
      }
      default:
        break;
    }
  }
}

// One event of every kind.
std::vector<v1::MechanismEvent> Events() {
  std::vector<v1::MechanismEvent> events;
  const auto* descriptor = v1::MechanismEvent::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) continue;
    for (const double value : {0.25, 2.0}) {
      v1::MechanismEvent& event = events.emplace_back();
      Fill(value, event.GetReflection()->MutableMessage(&event, field));
    }
  }
  return events;
}

// Takes the sampling off every event: composing sampled ones takes a minute with sanitizers.
void TakeSamplingOff(Message* message) {
  if (auto* event = dynamic_cast<v1::MechanismEvent*>(message)) {
    if (event->has_poisson_sampled()) *event = v1::MechanismEvent(event->poisson_sampled().event());
    return;
  }
  const auto* r = message->GetReflection();
  std::vector<const FieldDescriptor*> set;
  r->ListFields(*message, &set);
  for (const FieldDescriptor* field : set) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      TakeSamplingOff(r->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < r->FieldSize(*message, field); ++i) {
      TakeSamplingOff(r->MutableRepeatedMessage(message, field, i));
    }
  }
}

void AddRequests(Corpora* corpora) {
  const auto methods = transport::AllMethods();
  for (size_t i = 0; i < methods.size(); ++i) {
    const std::unique_ptr<Message> good = transport::GoodRequest(*methods[i]);
    if (!transport::ShortName(*methods[i]).starts_with("ChargeService."))
      TakeSamplingOff(good.get());
    const std::string request = good->SerializeAsString();
    const std::string name = transport::ShortName(*methods[i]);
    corpora->Add("request_fuzz", name, std::string(1, static_cast<char>(i)) + request);
    corpora->Add("json_request_fuzz", name, std::string(1, static_cast<char>(i)) + Json(*good));
    const std::string path = "/" + methods[i]->service()->full_name() + "/" + methods[i]->name();
    corpora->Add("http2_fuzz", name, WriteHttp2(Http2Call(path, request)));
  }
}

void AddHttp2(Corpora* corpora) {
  const std::string eight(8, '\x7f');
  for (uint8_t type = 0; type < kFrameTypes; ++type) {
    std::vector<Http2Frame> frames = Http2Call("/grpc.health.v1.Health/Check", "");
    frames.insert(frames.begin() + 1 + type % 2,
                  {.type = type, .stream = uint32_t{type % 2u}, .payload = eight});
    corpora->Add("http2_fuzz", "frame-" + std::to_string(type), WriteHttp2(frames));
  }
}

void AddHttp(Corpora* corpora) {
  const std::string host = " HTTP/1.1\r\nhost: x\r\n";
  int number = 0;
  for (const std::string& request :
       {"GET /metrics" + host + "\r\n", "GET /healthz?a=b" + host + "connection: close\r\n\r\n",
        "HEAD /readyz" + host + "\r\nGET /%41" + host + "\r\n",
        "POST /healthz" + host + "content-length: 5\r\n\r\nhello",
        "POST /" + host + "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /" + host + "expect: 100-continue\r\ncontent-length: 1\r\n\r\nx",
        std::string("GET /metrics HTTP/1.0\r\n\r\n"), std::string(kHttp2Preface)}) {
    corpora->Add("http_fuzz", "request-" + std::to_string(++number), request);
  }
}

void AddEntries(Corpora* corpora) {
  for (int which = 0; which < kStoredHistories; ++which) {
    for (const core::Entry& entry : StoredHistory(which)) {
      corpora->Add("entry_fuzz",
                   "entry-" + std::to_string(which) + "-" + std::to_string(entry.sequence),
                   std::string(1, static_cast<char>(which)) + entry.content);
    }
  }
}

void AddMathematics(Corpora* corpora) {
  v1::ComputeRequest request;
  request.set_id("x");
  request.set_accountant(v1::Accountant::RENYI);
  request.set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
  request.mutable_query()->set_epsilon_at_delta(1e-5);
  int number = 0;
  for (const v1::MechanismEvent& event : Events()) {
    const std::string name = "event-" + std::to_string(++number);
    corpora->Add("mechanism_event_fuzz", name, Json(event));
    request.clear_events();
    auto* counted = request.add_events();
    *counted->mutable_event() = event;
    counted->set_count(2);
    corpora->Add("compute_request_fuzz", name, Json(request));
  }
}

// The first byte says of which format.
void AddTrainingData(Corpora* corpora) {
  std::string images("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16);
  images += "abcdefgh";
  const std::string labels("\0\0\x08\x01\0\0\0\x02\x03\x09", 10);
  corpora->Add("training_data_fuzz", "idx",
               std::string(1, '\0') + static_cast<char>(images.size()) + images + labels);
  std::vector<unsigned char> pixels(8 * 8 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(5 * i);
  const std::string file = trainers::EncodeJpeg(8, 8, pixels);
  corpora->Add("training_data_fuzz", "jpeg_pack",
               '\1' + trainers::MakeJpegPack({{1, file}, {2, file}}, {{3, file}}));
  corpora->Add("training_data_fuzz", "libsvm", "\x02+1 1:0.5 3:-2e-3\n-1 2:1\n-1\n");
}

}  // namespace
}  // namespace epsledger::fuzz

int main(int argc, char** argv) {
  using namespace epsledger::fuzz;  // NOLINT: one function
  if (argc != 2) {
    std::fprintf(stderr, "seed_corpora: want a folder\n");
    return 2;
  }
  Corpora corpora(argv[1]);
  AddRequests(&corpora);
  AddHttp2(&corpora);
  AddHttp(&corpora);
  AddEntries(&corpora);
  AddMathematics(&corpora);
  AddTrainingData(&corpora);
  if (corpora.good()) return 0;
  std::fprintf(stderr, "seed_corpora: cannot write to %s\n", argv[1]);
  return 1;
}
