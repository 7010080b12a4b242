#include "server/transport/sockets/connection_room.h"

#include <algorithm>
#include <tuple>

#include "server/transport/sockets/peer_key.h"

namespace epsledger::transport {

using boost::asio::ip::address;

std::optional<ConnectionRoom::Entry> ConnectionRoom::Enter(const address& peer) {
  Entry entry{.id = ++last_, .ended = std::nullopt};
  if (!counts_.Add(peer)) {
    const auto leaving = WhoLeavesFor(peer);
    if (leaving == places_.end()) return std::nullopt;
    if (!counts_.Replace(leaving->second.peer, peer)) return std::nullopt;
    entry.ended = leaving->first;
    places_.erase(leaving);
  }
  places_[entry.id] = {.peer = peer, .since = entry.id};
  return entry;
}

void ConnectionRoom::Leave(Id id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  counts_.Remove(place->second.peer);
  places_.erase(place);
}

void ConnectionRoom::Work(Id id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  place->second.is_waiting = false;
  place->second.has_worked = true;
}

void ConnectionRoom::Wait(Id id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  place->second.is_waiting = true;
  place->second.since = ++last_;
}

std::map<ConnectionRoom::Id, ConnectionRoom::Place>::iterator ConnectionRoom::WhoLeavesFor(
    const address& peer) {
  const std::string key = PeerKeyOf(peer);
  const auto is_local = [](const address& of) { return Plain(of).is_loopback(); };
  // What is reserved for peers of this machine leaves for nobody on another one.
  const bool takes_from_local =
      is_local(peer) ||
      static_cast<size_t>(std::count_if(places_.begin(), places_.end(), [&](const auto& place) {
        return is_local(place.second.peer);
      })) > reserved_;
  auto best = places_.end();
  std::tuple<bool, bool, uint64_t> least;
  for (auto place = places_.begin(); place != places_.end(); ++place) {
    if (!place->second.is_waiting) continue;
    if (!takes_from_local && is_local(place->second.peer)) continue;
    const std::tuple<bool, bool, uint64_t> order(PeerKeyOf(place->second.peer) != key,
                                                 place->second.has_worked, place->second.since);
    if (best != places_.end() && !(order < least)) continue;
    best = place;
    least = order;
  }
  return best;
}

}  // namespace epsledger::transport
