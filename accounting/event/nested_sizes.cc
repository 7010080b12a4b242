#include "accounting/event/nested_sizes.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"

namespace epsledger::accounting {
namespace {

template <class Event>
concept HasDatasetSize = requires(Event e) {
  e.dataset_size;
};
template <class Event>
concept HasPart = requires(Event e) {
  e.event;
};

template <class Event>
inline constexpr bool kIsFixedSize = std::is_same_v<Event, SampledWithoutReplacement> ||
                                     std::is_same_v<Event, SampledWithReplacement>;
template <class Event>
inline constexpr bool kIsOnTheSameRecords =
    std::is_same_v<Event, SelfComposed> || std::is_same_v<Event, RepeatAndSelect>;

// `size`: of the sample that the event runs on, where it is fixed.
absl::Status CheckOn(std::optional<int64_t> size, const MechanismEvent& event,
                     const std::string& path) {
  return std::visit(
      [&](const auto& kind) -> absl::Status {
        using Event = std::decay_t<decltype(kind)>;
        const std::string at = absl::StrCat(path, ".", JsonName(Event::kName));
        if constexpr (HasDatasetSize<Event>) {
          if (size.has_value() && kind.dataset_size != *size) {
            return OutOfDomain(at + ".datasetSize", absl::StrCat(kind.dataset_size),
                               absl::StrCat(*size, ", the sampleSize around it"));
          }
        }
        if constexpr (HasPart<Event>) {
          std::optional<int64_t> inside;
          if constexpr (kIsFixedSize<Event>) inside = kind.sample_size;
          if constexpr (kIsOnTheSameRecords<Event>) inside = size;
          return CheckOn(inside, *kind.event, at + ".event");
        } else if constexpr (std::is_same_v<Event, Composed>) {
          for (size_t i = 0; i < kind.events.size(); ++i) {
            RETURN_IF_ERROR(
                CheckOn(size, *kind.events[i].event, absl::StrCat(at, ".events[", i, "].event")));
          }
        }
        return absl::OkStatus();
      },
      event.kind());
}

}  // namespace

absl::Status CheckNestedSizes(const MechanismEvent& event, const std::string& path) {
  return CheckOn(std::nullopt, event, path);
}

}  // namespace epsledger::accounting
