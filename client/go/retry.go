package epsledger

import (
	"context"
	"fmt"
	"math/rand"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Retry says how long and how often a call is tried. No setting makes an unknown outcome count as accepted.
type Retry struct {
	CallTimeout    time.Duration // of one try; 0: 10 s
	OverallTimeout time.Duration // of all tries and waits together; 0: 60 s
	MaxTries       int           // 0: as many as the time allows
	// A wait is uniform in [b/2, b]; b doubles from the first of these to the second. It is never shorter than the
	// server's RetryInfo asks. 0: 50 ms and 2 s.
	InitialBackoff, MaxBackoff time.Duration
}

func (r Retry) withDefaults() (Retry, error) {
	for _, one := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{{&r.CallTimeout, 10 * time.Second}, {&r.OverallTimeout, time.Minute}, {&r.InitialBackoff, 50 * time.Millisecond},
		{&r.MaxBackoff, 2 * time.Second}} {
		if *one.value < 0 {
			return r, invalid("Retry", *one.value, "no negative time")
		}
		if *one.value == 0 {
			*one.value = one.fallback
		}
	}
	if r.MaxTries < 0 {
		return r, invalid("Retry.MaxTries", r.MaxTries, "0 or more")
	}
	r.MaxBackoff = max(r.MaxBackoff, r.InitialBackoff)
	return r, nil
}

// tries is the outcome of all tries of one call.
type tries struct {
	last             *status.Status // nil: answered
	mayHaveCommitted bool           // some try ended without saying that nothing was written
	count            int
	elapsed          time.Duration
}

func (t *tries) String() string {
	return fmt.Sprintf("%d tries in %.1f s", t.count, t.elapsed.Seconds())
}

// untilDefinite calls once until it succeeds, fails definitely, or the tries or the time are used up, and at least
// once. When ctx ends, no more tries are made.
func (r Retry) untilDefinite(ctx context.Context, once func(context.Context) error) tries {
	start := time.Now()
	deadline := start.Add(r.OverallTimeout)
	backoff := r.InitialBackoff
	var all tries
	for {
		limited, cancel := context.WithTimeout(ctx, min(r.CallTimeout, time.Until(deadline)))
		err := once(limited)
		cancel()
		all.count++
		all.elapsed = time.Since(start)
		if err == nil {
			all.last = nil
			return all
		}
		all.last = status.Convert(err)
		all.mayHaveCommitted = all.mayHaveCommitted || mayHaveCommitted(all.last.Code())
		if !worthRetrying(all.last.Code()) || (r.MaxTries > 0 && all.count >= r.MaxTries) {
			return all
		}
		wait := max(backoff/2+time.Duration(rand.Int63n(int64(backoff/2)+1)), retryDelay(all.last))
		if time.Until(deadline) <= wait {
			return all
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return all
		case <-timer.C:
		}
		backoff = min(2*backoff, r.MaxBackoff)
		if time.Until(deadline) <= 0 {
			return all
		}
	}
}

// worthRetrying is true for codes after which a repetition with the same key can find out.
func worthRetrying(code codes.Code) bool {
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unknown:
		return true
	}
	return false
}

// mayHaveCommitted is true for all codes but those that the server returns before it writes.
func mayHaveCommitted(code codes.Code) bool {
	switch code {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.Unauthenticated,
		codes.FailedPrecondition, codes.Aborted, codes.OutOfRange, codes.Unimplemented:
		return false
	}
	return true
}

// retryDelay returns how long the server asks to wait, in [0, 1 h]; more is not believed.
func retryDelay(last *status.Status) time.Duration {
	for _, detail := range last.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			if delay := info.GetRetryDelay().AsDuration(); delay > 0 && delay <= time.Hour {
				return delay
			}
		}
	}
	return 0
}
