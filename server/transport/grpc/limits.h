#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_

// Every bound of the services, with its reason. Those of their connections are in
// server/transport/wire/limits.h, the ledger's own in server/core/limits.h.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace epsledger::transport {

// A plan or history of 10,000 sampled events takes about 0.5 MB. gRPC itself answers
// RESOURCE_EXHAUSTED above it.
inline constexpr int kMaxRequestBytes = 1 << 20;
// A page of a list ends early here: clients of gRPC take 4 MiB unless told otherwise.
inline constexpr size_t kMaxPageBytes = 2 << 20;
// An answer that tells of one charge: a refusal with its details is the longest.
inline constexpr size_t kMaxRowBytes = 8 << 10;
inline constexpr int32_t kDefaultPageSize = 50;
// A token is an id and its check value.
inline constexpr size_t kMaxPageTokenBytes = 256;

// Trailers of one call: clients of gRPC take 8 KiB in all, and the answer would become
// RESOURCE_EXHAUSTED, which is not what a refusal may look like. Base64 takes a third of it.
inline constexpr size_t kMaxStatusDetailBytes = 3 << 10;
inline constexpr size_t kMaxStatusMessageBytes = 1 << 10;
// How much of a wrong text is repeated in the message about it.
inline constexpr size_t kMaxShownBytes = 64;

// Unary calls that are open at a time, over all connections, and the bytes of their requests.
// Beyond either UNAVAILABLE, before anything of the request is looked at. The ledger's own queue is
// half as long, and most requests are of 200 bytes: only large ones, or slow computations, come
// this far.
inline constexpr size_t kMaxOpenCalls = 1 << 15;
inline constexpr size_t kMaxOpenRequestBytes = size_t{256} << 20;

// Calls of one tenant that are refused for now: so many at once, about what one connection may have
// in flight, and so many a second. Who sends more is not read for a while: what a client that waits
// as it is told would wait.
inline constexpr double kMaxRefusalsAtOnce = 1'000;
inline constexpr double kRefusalsPerSecond = 500;
inline constexpr std::chrono::seconds kMaxPauseForRefusals(1);

// The longest that any call is held, whatever deadline its client set, so that a ledger that is
// stuck keeps neither memory nor a shutdown waiting.
inline constexpr absl::Duration kMaxCallDuration = absl::Seconds(60);

// Streams (StreamCharges and watches) that are open at a time, over all connections. One tenant has
// at most half of them, and of the open calls, their bytes and the queued computations. Each holds
// at most its window or one page in memory; beyond that UNAVAILABLE.
inline constexpr size_t kMaxOpenStreams = 2048;
// After that a client opens another: as connections, so that clients spread over servers.
inline constexpr absl::Duration kMaxStreamAge = absl::Minutes(30);
// A client that takes no message for so long is dropped, and what it holds is let go of.
inline constexpr absl::Duration kMaxWriteDuration = absl::Seconds(60);
// Requests of one StreamCharges that are read and not yet answered to the end: about what the
// ledger commits at once. Reading stops at either, and the client with it: HTTP/2 flow control.
inline constexpr size_t kMaxStreamWindow = 256;
inline constexpr size_t kMaxStreamWindowBytes = 4 << 20;
// What a watch reads at a time on the ledger's thread, and holds: a usual entry takes microseconds,
// a message of 32 KiB a millisecond.
inline constexpr int64_t kWatchPageEntries = 128;
inline constexpr size_t kWatchPageBytes = 32 << 10;
// Watches that read between two commits. The others wait for their turn, so that charges are held
// up by so many pages at most, however many watch.
inline constexpr int kMaxWatchReads = 4;
// What it counts for, of the bytes that a tenant reads a second, to open a stream of what is
// stored: making and sending as much takes as long.
inline constexpr size_t kBytesOfAnOpening = 8 << 10;
// How often the caller of an open stream is looked up again.
inline constexpr absl::Duration kReadmissionInterval = absl::Seconds(1);
// How often a watch tells of nothing but its position.
inline constexpr absl::Duration kBookmarkInterval = absl::Seconds(1);

// What clients have, at a stop, to take the answers that were given last.
inline constexpr absl::Duration kLastWordsPatience = absl::Seconds(1);

// How often deadlines and health are looked at.
inline constexpr absl::Duration kHousekeepingInterval = absl::Milliseconds(100);
// What a client that was told UNAVAILABLE should wait.
inline constexpr absl::Duration kRetryDelay = absl::Milliseconds(200);

// Computations (accountants over a history) that may wait for a free thread; each takes
// milliseconds to seconds. Beyond that UNAVAILABLE.
inline constexpr size_t kMaxQueuedComputations = 256;

// Entries that are read between two commits, for proofs, verification and export: about a
// millisecond. An export holds as many in memory, most of 100 bytes, the largest of a megabyte.
inline constexpr int64_t kEntriesPerRead = 100;

// The encodings of a session's events up to which an answer about it holds them, and the lists of
// its charges are written between two commits: beyond, on another thread.
inline constexpr int64_t kMaxShownEventBytes = 64 << 10;
inline constexpr size_t kMaxShownLeases = 1'000;
// A history that is asked for as a whole.
inline constexpr size_t kMaxWholeHistoryBytes = 3 << 20;

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_LIMITS_H_
