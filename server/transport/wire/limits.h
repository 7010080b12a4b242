#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_

// Every bound of gRPC's wire, with its reason.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace epsledger::transport::wire {

// Headers of one call, each with 32 bytes more, as HTTP/2 counts them. A bearer token and a trace
// context fit many times.
inline constexpr size_t kMaxHeaderBytes = 16 << 10;
// What a client says of itself: a library, its version and the one below it.
inline constexpr size_t kMaxClientBytes = 128;
inline constexpr size_t kMaxRequestIdBytes = 128;
// The request of a method that is open to strangers: the name of a service.
inline constexpr size_t kMaxOpenRequestBytes = 4 << 10;
// Bytes that a stream may send before they are taken, and a connection.
inline constexpr int32_t kStreamWindow = 64 << 10;
inline constexpr int32_t kConnectionWindow = 1 << 20;
// Calls in flight on one connection: four times the largest load that is measured.
inline constexpr uint32_t kMaxStreams = 1024;
// Calls of a stranger, a connection of which no call was admitted yet, whose answers it does not
// take. A stranger is answered at once, so that it has more only if it does not read.
inline constexpr size_t kMaxUntakenStreamsOfStranger = 100;
// Streams of methods that are open to strangers (health, reflection), on one connection and on all:
// each may stay for as long as its connection.
inline constexpr size_t kMaxOpenMethodStreamsOfConnection = 8;
inline constexpr size_t kMaxOpenMethodCalls = 128;
// Requests that have begun and are not whole, of one connection and of all.
inline constexpr size_t kMaxUnfinishedBytesOfConnection = 16 << 20;
inline constexpr size_t kMaxUnfinishedBytes = 64 << 20;
// What a connection may hold of either however much others hold: nobody's calls wait for a hoarder.
inline constexpr size_t kBytesOfAnybody = 64 << 10;
// Answers that a client has not taken and those that are being made for it, of one connection and
// of all. Beyond it the next call of the connection waits.
inline constexpr size_t kMaxUntakenBytesOfConnection = 32 << 20;
inline constexpr size_t kMaxUntakenBytes = 256 << 20;

// Answers of one stream that wait to be sent before the next one is made: they share what it costs
// to send.
inline constexpr size_t kUntakenBytesOfStream = 16 << 10;

// Streams that come to nothing: that a stranger resets, or that end by an error of any client's. So
// many at once, and so many a second. Clients who are known may reset what they like, as those with
// short deadlines do; what bounds them are the calls that the services have not ended yet.
inline constexpr double kMaxResets = 1000;
inline constexpr double kResetsPerSecond = 33;
inline constexpr size_t kMaxCalls = 2 * kMaxStreams;
// Calls that are handed over before it is looked whether their caller is to be slowed down.
inline constexpr size_t kCallsPerBatch = 32;
// Frames that follow the first one of a call's headers.
inline constexpr size_t kMaxContinuations = 8;
// Frames that wait to be sent: a few a stream. A client that does not read and asks for more is
// dropped.
inline constexpr size_t kMaxQueuedFrames = 8 * kMaxStreams;
// What is read of one connection before the next one's turn, less of a stranger and of one that was
// slowed down a short time ago; and what is made ready for one that does not take it.
inline constexpr size_t kBytesPerTurn = 64 << 10;
inline constexpr size_t kBytesPerSmallTurn = 8 << 10;
// All that a stranger may send: a largest request, with as many first calls as there may be streams
// of usual size beside it.
inline constexpr size_t kMaxBytesOfStranger = 2 << 20;
inline constexpr size_t kMaxReadyBytes = 64 << 10;

using Clock = std::chrono::steady_clock;
// For TLS, the client's preface and its word that it has read the server's settings.
inline constexpr std::chrono::seconds kHandshakeTimeout(5);
inline constexpr std::chrono::seconds kSettingsTimeout(10);
// For a connection of which no call was ever admitted. A client that waits longer before its first
// call connects again.
inline constexpr std::chrono::seconds kStrangerAge(60);
// Spreads clients over servers that were added. Each connection has up to a tenth less, so that not
// all come back at once.
inline constexpr std::chrono::minutes kConnectionAge(30);
inline constexpr std::chrono::seconds kConnectionAgeGrace(30);
// For a request to be whole.
inline constexpr std::chrono::seconds kRequestTimeout(15);
// A connection on which nothing is taken for so long is dropped, and a call whose answer is not.
inline constexpr std::chrono::seconds kWriteTimeout(60);
// Finds peers that have vanished without a word.
inline constexpr std::chrono::seconds kKeepaliveInterval(60);
inline constexpr std::chrono::seconds kKeepaliveTimeout(20);
// For a client to take the last answers and to close its end.
inline constexpr std::chrono::seconds kFinishTimeout(1);
// For this server to answer itself.
inline constexpr std::chrono::seconds kProbeTimeout(2);
// How often these are looked at.
inline constexpr std::chrono::milliseconds kHousekeepingInterval(250);
// As long as a client that waits as it is told does not come back in numbers.
inline constexpr std::chrono::seconds kSmallTurnsAfterPause(10);
// Before the next connection is taken, where the process has no file descriptor for one.
inline constexpr std::chrono::milliseconds kPauseWithoutDescriptors(100);

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_LIMITS_H_
