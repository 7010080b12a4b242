// Every event is described twice, as a struct and as a message. They must be one description.

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "epsledger/v1/mechanism.pb.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace epsledger::bridge {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The type of a field of an event, as its message must write it.
std::string TypeOf(const double&) { return "double"; }
std::string TypeOf(const int64_t&) { return "int64"; }
std::string TypeOf(const bool&) { return "bool"; }
std::string TypeOf(const accounting::Noise&) { return "epsledger.v1.Noise.Kind"; }
std::string TypeOf(const accounting::MatrixStrategy&) { return "epsledger.v1.MatrixStrategy.Kind"; }
std::string TypeOf(const std::string&) { return "string"; }
std::string TypeOf(const accounting::NestedEvent&) { return "epsledger.v1.MechanismEvent"; }
std::string TypeOf(const std::vector<double>&) { return "repeated double"; }
std::string TypeOf(const std::vector<accounting::CountedEvent>&) {
  return "repeated epsledger.v1.CountedEvent";
}

std::string TypeOf(const FieldDescriptor& field) {
  const std::string type =
      field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? field.message_type()->full_name()
      : field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM  ? field.enum_type()->full_name()
                                                           : field.type_name();
  return (field.is_repeated() ? "repeated " : "") + type;
}

template <class S>
void ExpectSameFields(const Descriptor& descriptor) {
  S s;
  int next = 0;
  S::Fields(s, [&](const char* name, const auto& value) {
    ASSERT_LT(next, descriptor.field_count()) << descriptor.full_name() << " lacks " << name;
    const FieldDescriptor& field = *descriptor.field(next++);
    EXPECT_EQ(field.name(), name) << descriptor.full_name();
    EXPECT_EQ(field.number(), next) << field.full_name();
    EXPECT_EQ(TypeOf(field), TypeOf(value)) << field.full_name();
  });
  EXPECT_EQ(next, descriptor.field_count()) << descriptor.full_name() << " has more fields";
}

template <size_t... I>
void ExpectSameKinds(std::index_sequence<I...>) {
  using Kind = accounting::MechanismEvent::Kind;
  const auto* oneof = v1::MechanismEvent::descriptor()->oneof_decl(0);
  EXPECT_EQ(oneof->field_count(), static_cast<int>(sizeof...(I)));
  (
      [&] {
        using Event = std::variant_alternative_t<I, Kind>;
        const FieldDescriptor* field =
            v1::MechanismEvent::descriptor()->FindFieldByNumber(Event::kTag);
        ASSERT_NE(field, nullptr) << Event::kName;
        EXPECT_EQ(field->name(), Event::kName);
        EXPECT_EQ(field->containing_oneof(), oneof);
        ExpectSameFields<Event>(*field->message_type());
      }(),
      ...);
}

TEST(MechanismSchema, EveryKindHasTheSameNumberNameAndFieldsInBothDescriptions) {
  ExpectSameKinds(
      std::make_index_sequence<std::variant_size_v<accounting::MechanismEvent::Kind>>());
}

TEST(MechanismSchema, ACountedEventHasTheSameFieldsInBothDescriptions) {
  ExpectSameFields<accounting::CountedEvent>(*v1::CountedEvent::descriptor());
}

TEST(MechanismSchema, AMessageHoldsNothingBesideItsKind) {
  const Descriptor* descriptor = v1::MechanismEvent::descriptor();
  EXPECT_EQ(descriptor->field_count(), descriptor->oneof_decl(0)->field_count());
  EXPECT_EQ(descriptor->oneof_decl_count(), 1);
}

}  // namespace
}  // namespace epsledger::bridge
