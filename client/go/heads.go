package epsledger

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	pb "epsledger.dev/client/go/epsledgerpb"
)

const hashBytes = 32

// entry is what every answer says about its place in the ledger.
type entry interface {
	GetSequence() int64
	GetHash() []byte
	GetHeadTag() []byte
}

// seenHeads has the newest ledger entry that this client has seen in each session. A server that is behind it has lost
// charges. Safe for concurrent use.
type seenHeads struct {
	mutex sync.Mutex
	heads map[string]*pb.LedgerHead
}

// of returns the head to send; nil if nothing was seen.
func (s *seenHeads) of(session string) *pb.LedgerHead {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.heads[session]
}

// accept remembers the entry of an answer, unless a newer one was seen. It returns how the entry contradicts what was
// seen, and then remembers nothing; "" if it does not, or has no hash.
//
// A fork: it has the sequence number of the newest entry, and another hash. The ledger went back: it is not after sent,
// the head that a new key, or an attempt, was sent with. An older key may have an older entry: sent is nil.
func (s *seenHeads) accept(session string, answer entry, sent *pb.LedgerHead) string {
	if answer.GetSequence() < 1 || len(answer.GetHash()) != hashBytes {
		return ""
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	seen := s.heads[session]
	if seen.GetSequence() == answer.GetSequence() && !bytes.Equal(seen.GetHash(), answer.GetHash()) {
		return fmt.Sprintf("a fork of the ledger: entry %d has the hash %x here, and had %x before; have the operator "+
			"compare the server with its backups", answer.GetSequence(), answer.GetHash(), seen.GetHash())
	}
	if sent != nil && answer.GetSequence() <= sent.GetSequence() {
		return fmt.Sprintf("the ledger went back: the new entry has number %d, after entry %d was seen; have the operator "+
			"compare the server with its backups", answer.GetSequence(), sent.GetSequence())
	}
	if seen.GetSequence() < answer.GetSequence() {
		root, _, _ := strings.Cut(session, "/sessions/")
		s.heads[session] = &pb.LedgerHead{
			RootBudget: root, Sequence: answer.GetSequence(), Hash: answer.GetHash(), Tag: answer.GetHeadTag()}
	}
	return ""
}
