#include "tests/fuzz/message_mutator.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/reflection.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace epsledger::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxText = 300;

class Mutator {
 public:
  explicit Mutator(std::mt19937& random) : random_(random) {}

  void Mutate(Message* message) {
    const int fields = message->GetDescriptor()->field_count();
    if (fields == 0) return;
    const FieldDescriptor* field = message->GetDescriptor()->field(Below(fields));
    const Reflection* reflection = message->GetReflection();
    // Most fields of a message are not set: look as often among those that are.
    std::vector<const FieldDescriptor*> set;
    reflection->ListFields(*message, &set);
    if (!set.empty() && Below(2) == 0) field = set[Below(static_cast<int>(set.size()))];
    if (Below(10) == 0) return reflection->ClearField(message, field);
    if (field->is_repeated()) return MutateRepeated(message, field);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return SetOne(message, field);
    const bool was_set = reflection->HasField(*message, field);
    Message* inner = reflection->MutableMessage(message, field);
    if (was_set || Below(2) == 0) Mutate(inner);
  }

 private:
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  template <class Number>
  Number Mutated(Number value) {
    static constexpr Number kInteresting[] = {Number(0),
                                              Number(1),
                                              Number(-1),
                                              std::numeric_limits<Number>::max(),
                                              std::numeric_limits<Number>::lowest(),
                                              std::numeric_limits<Number>::infinity(),
                                              std::numeric_limits<Number>::quiet_NaN(),
                                              std::numeric_limits<Number>::denorm_min(),
                                              std::numeric_limits<Number>::epsilon(),
                                              Number(1e-5),
                                              Number(1e6)};
    if (Below(3) == 0) return kInteresting[Below(std::size(kInteresting))];
    uint8_t bytes[sizeof(Number)];
    std::memcpy(bytes, &value, sizeof value);
    LLVMFuzzerMutate(bytes, sizeof bytes, sizeof bytes);
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::string Mutated(std::string text) {
    const size_t size = text.size();
    text.resize(std::max(size, kMaxText));
    text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
    return text;
  }
  int AnyEnumValue(const FieldDescriptor* field) {
    const int count = field->enum_type()->value_count();
    const int which = Below(count + 1);
    return which == count ? 1000 : field->enum_type()->value(which)->number();
  }

  void SetOne(Message* message, const FieldDescriptor* field) {
    const Reflection* r = message->GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r->SetInt32(message, field, Mutated(r->GetInt32(*message, field)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r->SetInt64(message, field, Mutated(r->GetInt64(*message, field)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r->SetUInt32(message, field, Mutated(r->GetUInt32(*message, field)));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r->SetUInt64(message, field, Mutated(r->GetUInt64(*message, field)));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r->SetDouble(message, field, Mutated(r->GetDouble(*message, field)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r->SetFloat(message, field, Mutated(r->GetFloat(*message, field)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return r->SetBool(message, field, !r->GetBool(*message, field));
      case FieldDescriptor::CPPTYPE_ENUM:
        return r->SetEnumValue(message, field, AnyEnumValue(field));
      case FieldDescriptor::CPPTYPE_STRING:
        return r->SetString(message, field, Mutated(r->GetString(*message, field)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return;
    }
  }

  void MutateRepeated(Message* message, const FieldDescriptor* field) {
    const Reflection* r = message->GetReflection();
    const int size = r->FieldSize(*message, field);
    if (size > 0 && Below(4) == 0) {
      r->SwapElements(message, field, Below(size), size - 1);
      return r->RemoveLast(message, field);
    }
    const bool add = size == 0 || Below(3) == 0;
    const int at = size == 0 ? 0 : Below(size);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        if (!add) return Mutate(r->MutableRepeatedMessage(message, field, at));
        Message* added = r->AddMessage(message, field);
        if (size > 0 && Below(2) == 0) {
          added->CopyFrom(r->GetRepeatedMessage(*message, field, at));
        } else {
          Mutate(added);
        }
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        if (add) return r->AddString(message, field, Mutated(std::string("a")));
        return r->SetRepeatedString(message, field, at,
                                    Mutated(r->GetRepeatedString(*message, field, at)));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        if (add) return r->AddDouble(message, field, Mutated(0.5));
        return r->SetRepeatedDouble(message, field, at,
                                    Mutated(r->GetRepeatedDouble(*message, field, at)));
      case FieldDescriptor::CPPTYPE_INT64:
        if (add) return r->AddInt64(message, field, Mutated(int64_t{1}));
        return r->SetRepeatedInt64(message, field, at,
                                   Mutated(r->GetRepeatedInt64(*message, field, at)));
      case FieldDescriptor::CPPTYPE_ENUM:
        return r->AddEnumValue(message, field, AnyEnumValue(field));
      default:
        return;
    }
  }

  std::mt19937& random_;
};

}  // namespace

void MutateMessage(Message* message, std::mt19937& random) { Mutator(random).Mutate(message); }

}  // namespace epsledger::fuzz
