package epsledger

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc/codes"

	pb "epsledger.dev/client/go/epsledgerpb"
)

// Lease is a block of steps that the ledger durably ACCEPTED as one charge, to be spent without asking the server.
//
// It gives at most as many permits as it was granted, and none after the first Settle. Everything was charged when it
// was acquired: granted = used + wasted, and a lost lease is spent in full. No lease ends by itself. Safe for
// concurrent use.
type Lease struct {
	client   *Client
	name     string
	charge   string
	sequence int64
	granted  int64

	mutex          sync.Mutex
	used           int64
	ended, settled bool
}

// Name returns "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}".
func (l *Lease) Name() string { return l.name }

// GrantedCount returns how many steps were charged.
func (l *Lease) GrantedCount() int64 { return l.granted }

// Take returns the permit of one more step. *Spent if all are taken, or after Settle.
func (l *Lease) Take() (*Permit, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.ended {
		return nil, &Spent{l.name + " is settled"}
	}
	if l.used >= l.granted {
		return nil, &Spent{fmt.Sprintf("all %d steps of %s are taken", l.granted, l.name)}
	}
	l.used++
	return newPermit(l.charge, l.sequence, 1), nil
}

// Settle ends the lease and tells the ledger how many steps were taken. Calling it again continues to try, and does
// nothing after a success. *CallFailed: the lease is spent in full until a Settle succeeds.
func (l *Lease) Settle(ctx context.Context) error {
	l.mutex.Lock()
	l.ended = true
	used, settled := l.used, l.settled
	l.mutex.Unlock()
	if settled {
		return nil
	}
	var answer *pb.Lease
	err := l.client.call(ctx, func(ctx context.Context) (err error) {
		answer, err = l.client.charges.SettleLease(ctx, &pb.SettleLeaseRequest{Name: l.name, UsedCount: used})
		return err
	})
	if err != nil {
		return err
	}
	if answer.GetName() != l.name || !answer.GetSettled() || answer.GetUsedCount() != used {
		return &CallFailed{codes.Internal, fmt.Sprintf("the server's answer is not one to settling %s", l.name)}
	}
	l.mutex.Lock()
	l.settled = true
	l.mutex.Unlock()
	return nil
}
