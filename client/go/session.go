package epsledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "epsledger.dev/client/go/epsledgerpb"
)

const mostUses = int64(1) << 53

// Session is one attempt of one session. Client.Open opened it and fenced all earlier attempts. Safe for concurrent
// use.
//
// Every charge has its own key in the attempt. All tries of a charge send the same bytes, so the ledger counts it at
// most once. A permit comes only from an ACCEPTED answer to exactly that key. There is no fail-open option.
type Session struct {
	client        *Client
	name, attempt string

	mutex               sync.Mutex
	lastStep, lastLease int64
	order               []string // the unknown charges, oldest first
	unknown             map[string]*pb.ChargeRequest
}

// Name returns "budgets/{budget}/sessions/{session}".
func (s *Session) Name() string { return s.name }

// Attempt returns "budgets/{budget}/sessions/{session}/attempts/{attempt}".
func (s *Session) Attempt() string { return s.attempt }

// Charge charges count uses of event, in [1, 2^53], waits until that is durable, and returns the permit.
//
// *Refused: nothing was charged. *OutcomeUnknown: it counts as spent. *CallFailed: nothing was charged.
func (s *Session) Charge(ctx context.Context, event *pb.MechanismEvent, count int64) (*Permit, error) {
	if err := checkCharge(event, count); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	s.lastStep++
	id := fmt.Sprintf("step-%d", s.lastStep)
	s.mutex.Unlock()
	request := &pb.ChargeRequest{Attempt: s.attempt, ChargeId: id, Event: proto.CloneOf(event), Count: count,
		LastSeenHead: s.client.heads.of(s.name)}
	return s.charge(ctx, request, request.LastSeenHead)
}

// RetryCharge asks again for a charge of UnknownCharges, with its key, event and count. One charge never gives two
// permits.
func (s *Session) RetryCharge(ctx context.Context, id string) (*Permit, error) {
	s.mutex.Lock() // taken out during the call, so that two callers never get a permit each
	request, known := s.unknown[id]
	s.forget(id)
	s.mutex.Unlock()
	if !known {
		return nil, invalid("id", id, "one of UnknownCharges")
	}
	request.LastSeenHead = s.client.heads.of(s.name)
	permit, err := s.charge(ctx, request, nil)
	if failed, ok := err.(*CallFailed); ok {
		// No try of this round reached a decision, and one of an earlier round may have committed.
		s.remember(request)
		return nil, &OutcomeUnknown{id, failed.Code, failed.Message, "asked again"}
	}
	return permit, err
}

// UnknownCharges returns the ids of the charges whose outcome is unknown, oldest first. They count as spent.
func (s *Session) UnknownCharges() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.order)
}

// Lease charges count uses of event in one charge, for Lease.Take to hand out without asking. After timeToLive, whole
// seconds up to 366 days, people should ask about the lease: none ends by itself. Errors are those of Charge. A lease
// whose outcome stays unknown is spent in full, and another one may be acquired.
func (s *Session) Lease(ctx context.Context, event *pb.MechanismEvent, count int64, timeToLive time.Duration) (*Lease, error) {
	if err := checkCharge(event, count); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	s.lastLease++
	id := fmt.Sprintf("lease-%d", s.lastLease)
	s.mutex.Unlock()
	request := &pb.AcquireLeaseRequest{Attempt: s.attempt, LeaseId: id, Event: proto.CloneOf(event), Count: count,
		TimeToLive: durationpb.New(timeToLive), LastSeenHead: s.client.heads.of(s.name)}
	var lease *pb.Lease
	all := s.client.retry.untilDefinite(ctx, func(ctx context.Context) (err error) {
		lease, err = s.client.charges.AcquireLease(ctx, request)
		return err
	})
	charge := s.attempt + "/charges/" + id
	if all.last != nil {
		return nil, notAccepted(&all, charge, id)
	}
	if wrong := wrongLease(request, lease); wrong != "" {
		return nil, &OutcomeUnknown{id, codes.Internal, wrong, all.String()}
	}
	if wrong := s.client.heads.accept(s.name, lease, request.LastSeenHead); wrong != "" {
		return nil, &OutcomeUnknown{id, codes.DataLoss, wrong, all.String()}
	}
	return &Lease{client: s.client, name: lease.GetName(), charge: charge, sequence: lease.GetSequence(),
		granted: lease.GetGrantedCount()}, nil
}

// charge sends a request, always with its one key, until the outcome is definite or the tries are used up.
func (s *Session) charge(ctx context.Context, request *pb.ChargeRequest, sent *pb.LedgerHead) (*Permit, error) {
	var charge *pb.Charge
	all := s.client.retry.untilDefinite(ctx, func(ctx context.Context) (err error) {
		charge, err = s.client.charges.Charge(ctx, request)
		return err
	})
	name := request.GetAttempt() + "/charges/" + request.GetChargeId()
	var err error
	if all.last != nil {
		err = notAccepted(&all, name, request.GetChargeId())
	} else if wrong := wrongCharge(request, charge); wrong != "" {
		err = &OutcomeUnknown{request.GetChargeId(), codes.Internal, wrong, all.String()}
	} else if wrong := s.client.heads.accept(s.name, charge, sent); wrong != "" {
		err = &OutcomeUnknown{request.GetChargeId(), codes.DataLoss, wrong, all.String()}
	}
	if _, unknown := err.(*OutcomeUnknown); unknown {
		s.remember(request)
	}
	if err != nil {
		return nil, err
	}
	return newPermit(name, charge.GetSequence(), charge.GetCount()), nil
}

func (s *Session) remember(request *pb.ChargeRequest) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.order = append(s.order, request.GetChargeId())
	s.unknown[request.GetChargeId()] = request
}

// forget needs the mutex.
func (s *Session) forget(id string) {
	delete(s.unknown, id)
	s.order = slices.DeleteFunc(s.order, func(one string) bool { return one == id })
}

func checkCharge(event *pb.MechanismEvent, count int64) error {
	if count < 1 || count > mostUses {
		return invalid("count", count, "in [1, 2^53]")
	}
	if event.GetKind() == nil {
		return invalid("event", "none", "a mechanism")
	}
	return nil
}

// notAccepted returns the error of a key of which no try was accepted.
func notAccepted(all *tries, name, id string) error {
	if refused := refusedCharge(all.last); refused != nil {
		if refused.GetName() == name {
			return &Refused{Charge: name, Refusal: refused.GetRefusal()}
		}
		return &OutcomeUnknown{id, codes.Internal, fmt.Sprintf("the server's answer is not one to %s: refused charge: got "+
			"%q, want that name", name, refused.GetName()), all.String()}
	}
	if all.mayHaveCommitted {
		return &OutcomeUnknown{id, all.last.Code(), all.last.Message(), all.String()}
	}
	return &CallFailed{all.last.Code(), all.last.Message()}
}

// refusedCharge returns the refused charge that a status carries; nil if there is none.
func refusedCharge(last *status.Status) *pb.Charge {
	for _, detail := range last.Details() {
		if charge, ok := detail.(*pb.Charge); ok && charge.GetDecision() == pb.Charge_REFUSED && charge.GetRefusal() != nil {
			return charge
		}
	}
	return nil
}

// wrongCharge returns "" if and only if the answer is an ACCEPTED charge of exactly this key, event and count, with a
// sequence number (the ledger's invariant I19).
func wrongCharge(request *pb.ChargeRequest, charge *pb.Charge) string {
	name := request.GetAttempt() + "/charges/" + request.GetChargeId()
	switch {
	case charge.GetName() != name:
		return differs(name, "name", charge.GetName(), "that name")
	case charge.GetDecision() != pb.Charge_ACCEPTED:
		return differs(name, "decision", charge.GetDecision(), "ACCEPTED with status OK")
	case charge.GetCount() != request.GetCount():
		return differs(name, "count", charge.GetCount(), request.GetCount())
	case !proto.Equal(charge.GetEvent(), request.GetEvent()):
		return differs(name, "event", charge.GetEvent(), request.GetEvent())
	case charge.GetSequence() < 1:
		return differs(name, "sequence", charge.GetSequence(), "1 or more")
	}
	return ""
}

func wrongLease(request *pb.AcquireLeaseRequest, lease *pb.Lease) string {
	name := request.GetAttempt() + "/leases/" + request.GetLeaseId()
	switch {
	case lease.GetName() != name:
		return differs(name, "name", lease.GetName(), "that name")
	case lease.GetGrantedCount() != request.GetCount():
		return differs(name, "grantedCount", lease.GetGrantedCount(), request.GetCount())
	case !proto.Equal(lease.GetEvent(), request.GetEvent()):
		return differs(name, "event", lease.GetEvent(), request.GetEvent())
	case lease.GetSettled():
		return differs(name, "settled", true, "an open lease")
	case lease.GetSequence() < 1:
		return differs(name, "sequence", lease.GetSequence(), "1 or more")
	}
	return ""
}

func differs(asked, field string, got, want any) string {
	return fmt.Sprintf("the server's answer is not one to %s: %s: got %v, want %v", asked, field, got, want)
}
