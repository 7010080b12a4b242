package epsledger

import (
	"fmt"
	"sync/atomic"
)

// Permit is the proof that the ledger durably ACCEPTED one charge. Only a Session or a Lease makes one. Dropping it
// returns nothing: what is charged stays charged. Safe for concurrent use.
type Permit struct {
	charge   string
	sequence int64
	usesLeft atomic.Int64
}

func newPermit(charge string, sequence, uses int64) *Permit {
	permit := &Permit{charge: charge, sequence: sequence}
	permit.usesLeft.Store(uses)
	return permit
}

// Charge returns "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}".
func (p *Permit) Charge() string { return p.charge }

// Sequence returns the charge's position in the root budget's ledger.
func (p *Permit) Sequence() int64 { return p.sequence }

// UsesLeft returns how many uses were charged and are not taken.
func (p *Permit) UsesLeft() int64 { return p.usesLeft.Load() }

// Use takes one use: draw noise for one release if and only if it returns nil. *Spent if none is left.
func (p *Permit) Use() error {
	for {
		left := p.usesLeft.Load()
		if left < 1 {
			return &Spent{fmt.Sprintf("no use of %s is left", p.charge)}
		}
		if p.usesLeft.CompareAndSwap(left, left-1) {
			return nil
		}
	}
}
