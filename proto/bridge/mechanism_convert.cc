#include "proto/bridge/mechanism_convert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/nested_sizes.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/reflection.h"
#include "google/protobuf/unknown_field_set.h"

namespace epsledger::bridge {
namespace {

using accounting::CountedEvent;
using accounting::MechanismEvent;
using accounting::NestedEvent;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status Unset(const std::string& path) {
  const auto* kinds = v1::MechanismEvent::descriptor()->oneof_decl(0);
  std::string names;
  for (int i = 0; i < kinds->field_count(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", kinds->field(i)->json_name());
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": unset, want one of ", names));
}

absl::Status CheckNoUnknownFields(const Message& message, const std::string& path) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": unknown field ", unknown.field(0).number(), ": this version does not know it"));
}

// Returns the fields of the message of S in the order of S::Fields, nullptr where it has none. They
// are looked up only once, because every charge is converted.
template <class S>
const std::vector<const FieldDescriptor*>& FieldsOf(const Message& message) {
  static const auto& fields = *[&] {
    auto* found = new std::vector<const FieldDescriptor*>;
    const S example{};
    S::Fields(example, [&](const char* name, const auto&) {
      found->push_back(message.GetDescriptor()->FindFieldByName(name));
    });
    return found;
  }();
  return fields;
}

// Both descriptions of the events are built from one source tree, so a difference is a bug in it.
absl::Status NotInProto(const Message& message, const char* field) {
  return absl::InternalError(
      absl::StrCat(message.GetDescriptor()->full_name(), " has no field for ", field));
}

// --- Messages to events. -------------------------------------------------------------------------

absl::StatusOr<MechanismEvent> ReadEvent(const Message& message, const std::string& path,
                                         int depth);
template <class S>
absl::Status ReadFields(const Message& message, const std::string& path, int depth, S& out);

// One overload per type that a field of an event can have. `path` is the message's.
absl::Status ReadField(const Message& message, const FieldDescriptor* field,
                       const std::string& path, int, double& out) {
  // Where 0 means that nothing or everything is released, it must be said.
  if (field->has_presence() && !message.GetReflection()->HasField(message, field)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".", field->json_name(), ": unset, want a number, also if it is 0"));
  }
  out = message.GetReflection()->GetDouble(message, field);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, int64_t& out) {
  out = message.GetReflection()->GetInt64(message, field);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, bool& out) {
  out = message.GetReflection()->GetBool(message, field);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, accounting::Noise& out) {
  // Numbers that are not defined are refused by accounting::Validate, under the name of the field.
  const int number = message.GetReflection()->GetEnumValue(message, field);
  out = static_cast<accounting::Noise>(number >= 0 && number < 255 ? number : 255);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, accounting::MatrixStrategy& out) {
  const int number = message.GetReflection()->GetEnumValue(message, field);
  out = static_cast<accounting::MatrixStrategy>(number >= 0 && number < 255 ? number : 255);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, std::string& out) {
  out = message.GetReflection()->GetString(message, field);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field, const std::string&,
                       int, std::vector<double>& out) {
  const auto values = message.GetReflection()->GetRepeatedFieldRef<double>(message, field);
  out.assign(values.begin(), values.end());
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field,
                       const std::string& path, int depth, NestedEvent& out) {
  // An absent message reads as an empty one, whose kind is unset.
  ASSIGN_OR_RETURN(MechanismEvent event,
                   ReadEvent(message.GetReflection()->GetMessage(message, field),
                             absl::StrCat(path, ".", field->json_name()), depth + 1));
  out = std::move(event);
  return absl::OkStatus();
}
absl::Status ReadField(const Message& message, const FieldDescriptor* field,
                       const std::string& path, int depth, std::vector<CountedEvent>& out) {
  const Reflection* reflection = message.GetReflection();
  const int size = reflection->FieldSize(message, field);
  out.resize(size);
  for (int i = 0; i < size; ++i) {
    RETURN_IF_ERROR(ReadFields(reflection->GetRepeatedMessage(message, field, i),
                               absl::StrCat(path, ".", field->json_name(), "[", i, "]"), depth,
                               out[i]));
  }
  return absl::OkStatus();
}

template <class S>
absl::Status ReadFields(const Message& message, const std::string& path, int depth, S& out) {
  absl::Status status = CheckNoUnknownFields(message, path);
  auto next = FieldsOf<S>(message).begin();
  S::Fields(out, [&](const char* name, auto& value) {
    const FieldDescriptor* field = *next++;
    if (!status.ok()) return;
    status = field == nullptr ? NotInProto(message, name)
                              : ReadField(message, field, path, depth, value);
  });
  return status;
}

template <class Event>
absl::StatusOr<MechanismEvent> ReadKind(const Message& message, const std::string& path,
                                        int depth) {
  Event event;
  RETURN_IF_ERROR(ReadFields(message, path, depth, event));
  return MechanismEvent(std::move(event));
}

using KindReader = absl::StatusOr<MechanismEvent> (*)(const Message&, const std::string&, int);

template <size_t... I>
KindReader ReaderOf(int field_number, std::index_sequence<I...>) {
  KindReader reader = nullptr;
  ((std::variant_alternative_t<I, MechanismEvent::Kind>::kTag == field_number
        ? void(reader = &ReadKind<std::variant_alternative_t<I, MechanismEvent::Kind>>)
        : void()),
   ...);
  return reader;
}

absl::StatusOr<MechanismEvent> ReadEvent(const Message& message, const std::string& path,
                                         int depth) {
  // Check the depth before the recursion: a message that is too deep must not use the stack.
  if (depth > accounting::kMaxEventDepth) {
    return accounting::OutOfDomain(path, absl::StrCat(depth, " events inside each other"),
                                   absl::StrCat("at most ", accounting::kMaxEventDepth));
  }
  RETURN_IF_ERROR(CheckNoUnknownFields(message, path));
  const Reflection* reflection = message.GetReflection();
  const FieldDescriptor* kind =
      reflection->GetOneofFieldDescriptor(message, message.GetDescriptor()->oneof_decl(0));
  if (kind == nullptr) return Unset(path);
  const KindReader reader = ReaderOf(
      kind->number(), std::make_index_sequence<std::variant_size_v<MechanismEvent::Kind>>());
  if (reader == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(path, ".", kind->json_name(), ": this version has no mathematics for it"));
  }
  return reader(reflection->GetMessage(message, kind), absl::StrCat(path, ".", kind->json_name()),
                depth);
}

// --- Events to messages. -------------------------------------------------------------------------

void WriteEvent(const MechanismEvent& event, Message* message);
template <class S>
void WriteFields(const S& s, Message* message);

void WriteField(double value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetDouble(message, field, value);
}
void WriteField(int64_t value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetInt64(message, field, value);
}
void WriteField(bool value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetBool(message, field, value);
}
void WriteField(accounting::Noise value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetEnumValue(message, field, static_cast<int>(value));
}
void WriteField(accounting::MatrixStrategy value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetEnumValue(message, field, static_cast<int>(value));
}
void WriteField(const std::string& value, const FieldDescriptor* field, Message* message) {
  message->GetReflection()->SetString(message, field, value);
}
void WriteField(const std::vector<double>& values, const FieldDescriptor* field, Message* message) {
  for (const double value : values) message->GetReflection()->AddDouble(message, field, value);
}
void WriteField(const NestedEvent& event, const FieldDescriptor* field, Message* message) {
  if (event.has_value()) {
    WriteEvent(*event, message->GetReflection()->MutableMessage(message, field));
  }
}
void WriteField(const std::vector<CountedEvent>& events, const FieldDescriptor* field,
                Message* message) {
  for (const CountedEvent& event : events) {
    WriteFields(event, message->GetReflection()->AddMessage(message, field));
  }
}

template <class S>
void WriteFields(const S& s, Message* message) {
  auto next = FieldsOf<S>(*message).begin();
  S::Fields(s, [&](const char*, const auto& value) { WriteField(value, *next++, message); });
}

void WriteEvent(const MechanismEvent& event, Message* message) {
  std::visit(
      [&](const auto& kind) {
        const FieldDescriptor* field =
            message->GetDescriptor()->FindFieldByNumber(std::decay_t<decltype(kind)>::kTag);
        WriteFields(kind, message->GetReflection()->MutableMessage(message, field));
      },
      event.kind());
}

}  // namespace

absl::StatusOr<MechanismEvent> FromProto(const v1::MechanismEvent& message,
                                         const std::string& path) {
  absl::StatusOr<MechanismEvent> event = ReadEvent(message, path, 1);
  if (!event.ok()) return event;
  RETURN_IF_ERROR(accounting::Validate(*event, path));
  RETURN_IF_ERROR(accounting::CheckNestedSizes(*event, path));
  return event;
}

absl::StatusOr<CountedEvent> FromProto(const v1::CountedEvent& message, const std::string& path) {
  CountedEvent event;
  absl::Status status = ReadFields(message, path, 0, event);
  if (status.ok()) status = accounting::Validate(event, path);
  if (status.ok()) status = accounting::CheckNestedSizes(*event.event, path + ".event");
  if (!status.ok()) return status;
  return event;
}

absl::StatusOr<std::vector<CountedEvent>> FromProto(
    const google::protobuf::RepeatedPtrField<v1::CountedEvent>& messages, const std::string& path) {
  std::vector<CountedEvent> events;
  events.reserve(messages.size());
  for (int i = 0; i < messages.size(); ++i) {
    ASSIGN_OR_RETURN(CountedEvent event, FromProto(messages[i], absl::StrCat(path, "[", i, "]")));
    events.push_back(std::move(event));
  }
  return events;
}

void ToProto(const MechanismEvent& event, v1::MechanismEvent* message) {
  message->Clear();
  WriteEvent(event, message);
}

void ToProto(const CountedEvent& event, v1::CountedEvent* message) {
  message->Clear();
  WriteFields(event, message);
}

}  // namespace epsledger::bridge
