package epsledger

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	pb "epsledger.dev/client/go/epsledgerpb"
)

// Refused says that the ledger refused a charge or a lease: nothing was charged, and nothing may be released. It is
// final: the same key gets the same refusal for ever.
type Refused struct {
	Charge  string // "budgets/.../charges/step-3"
	Refusal *pb.Refusal
}

// Reason returns "BUDGET_EXHAUSTED", "ATTEMPT_FENCED" (a newer attempt was opened: stop this one), ...
func (e *Refused) Reason() string {
	reason := e.Refusal.GetReason()
	if name, known := pb.Refusal_Reason_name[int32(reason)]; known {
		return name
	}
	return fmt.Sprintf("REASON_%d", int32(reason))
}

func (e *Refused) Error() string {
	text := "refused, " + e.Reason()
	if limit := e.Refusal.GetLimitingResource(); limit != "" {
		text += " by " + limit
	}
	switch {
	case e.Refusal.GetRemedy() != "":
		return text + ": " + e.Refusal.GetRemedy()
	case e.Refusal.GetStepsThatFit() > 0:
		return fmt.Sprintf("%s: ask for at most %d of it, or for more noise", text, e.Refusal.GetStepsThatFit())
	case e.Refusal.GetReason() == pb.Refusal_BUDGET_EXHAUSTED:
		return text + ": no step of this size fits any more: ask for more noise, or stop"
	case e.Refusal.GetReason() == pb.Refusal_ATTEMPT_FENCED:
		return text + ": a newer attempt of this session is running; stop this one"
	}
	return text + ": nothing was charged, and nothing may be released"
}

// OutcomeUnknown says that no try of a charge brought a decision. It may have been committed, and COUNTS AS SPENT:
// release nothing for it. Session.RetryCharge asks for the same charge again.
type OutcomeUnknown struct {
	ChargeID  string
	Code      codes.Code
	Message   string
	HowItWent string
}

func (e *OutcomeUnknown) Error() string {
	return fmt.Sprintf("charge %s: the outcome is unknown and counts as spent (%s); release nothing for it until "+
		"RetryCharge(%q) is accepted. Last answer: %s: %s", e.ChargeID, e.HowItWent, e.ChargeID, CodeName(e.Code), e.Message)
}

// CallFailed says that a call ended with an error that is no refusal. It charged nothing.
type CallFailed struct {
	Code    codes.Code
	Message string
}

func (e *CallFailed) Error() string { return CodeName(e.Code) + ": " + e.Message }

// Spent says that every use of a permit, or every step of a lease, is taken, or that the lease is settled.
type Spent struct{ what string }

func (e *Spent) Error() string { return e.what + ": charge again before the next release" }

// CodeName returns the name of a status code as the API writes it: "NOT_FOUND".
func CodeName(code codes.Code) string {
	if code == codes.Canceled {
		return "CANCELLED"
	}
	var name strings.Builder
	for at, letter := range code.String() {
		if at > 0 && letter >= 'A' && letter <= 'Z' {
			name.WriteByte('_')
		}
		name.WriteRune(letter)
	}
	return strings.ToUpper(name.String())
}

func invalid(field string, got any, want string) error {
	return &CallFailed{codes.InvalidArgument, fmt.Sprintf("%s: got %v, want %s", field, got, want)}
}
