#ifndef EPSLEDGER_SERVER_CORE_ACTOR_H_
#define EPSLEDGER_SERVER_CORE_ACTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace epsledger::core {

// How a change reached the ledger.
enum class Door : uint8_t {
  kGrpc = 1,
  kHttp = 2,
  // A program on the ledger's own files, like `epsledgerd token create`.
  kOffline = 3,
  // The server by itself: denials that it counted, a quarantine that it began.
  kServer = 4,
};

// Who asked for a change: part of its entry, and hashed with it. The tenant is not here: a ledger
// belongs to one.
struct Actor {
  // "tokens/{token}", the name of a certificate, or that nobody was asked for one. Empty for the
  // server itself.
  std::string principal;
  Door door = Door::kServer;
  // What the client says of itself (User-Agent); a claim. At most kMaxActorClientBytes.
  std::string client;

  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("principal", s.principal);
    v("door", s.door);
    v("client", s.client);
  }
};

inline constexpr size_t kMaxActorClientBytes = 128;

inline constexpr char kUnknownMaker[] = "";

// Who proposes, approves or rejects, with what is known of whether two of these are one person.
struct Person {
  std::string principal;
  // Who made the principal's token, who made that one's, and so on. Ends with kUnknownMaker where
  // the next one is not known any more, or after kMaxMakers.
  std::vector<std::string> makers;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("principal", s.principal);
    v("makers", s.makers);
  }
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ACTOR_H_
