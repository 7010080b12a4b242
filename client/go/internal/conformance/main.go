// Command conformance moves this client for tests/conformance/conformance.py.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	epsledger "epsledger.dev/client/go"
	pb "epsledger.dev/client/go/epsledgerpb"
)

type command struct {
	Do            string
	Address       string
	Token         string
	AllowInsecure bool
	Retry         struct{ CallTimeoutMs, OverallTimeoutMs, MaxTries, InitialBackoffMs, MaxBackoffMs int }
	Budget        string
	Session       string
	EventBytes    string `json:"event_bytes"`
	Count         string
	Seconds       string
	ChargeID      string `json:"charge_id"`
	Permit, Lease int
}

type verdict map[string]any

type driver struct {
	client  *epsledger.Client
	session *epsledger.Session
	permits []*epsledger.Permit
	leases  []*epsledger.Lease
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	answers := json.NewEncoder(os.Stdout)
	moved := &driver{}
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := answers.Encode(moved.do(asked)); err != nil {
			os.Exit(2)
		}
	}
}

func (d *driver) do(asked command) verdict {
	ctx := context.Background()
	switch asked.Do {
	case "connect":
		return d.connect(asked)
	case "open":
		session, err := d.client.Open(ctx, epsledger.SessionOptions{Budget: asked.Budget, Session: asked.Session})
		if err != nil {
			return failure(err)
		}
		d.session = session
		return verdict{"is": "ok"}
	case "charge":
		event, count := asked.event()
		return d.keep(d.session.Charge(ctx, event, count))
	case "retry":
		return d.keep(d.session.RetryCharge(ctx, asked.ChargeID))
	case "unknown":
		return verdict{"is": "ok", "ids": append([]string{}, d.session.UnknownCharges()...)}
	case "use":
		if err := d.permits[asked.Permit].Use(); err != nil {
			return failure(err)
		}
		return verdict{"is": "ok"}
	case "lease":
		event, count := asked.event()
		seconds, _ := strconv.Atoi(asked.Seconds)
		lease, err := d.session.Lease(ctx, event, count, time.Duration(seconds)*time.Second)
		if err != nil {
			return failure(err)
		}
		d.leases = append(d.leases, lease)
		return verdict{"is": "lease", "granted": strconv.FormatInt(lease.GrantedCount(), 10)}
	case "take":
		return d.keep(d.leases[asked.Lease].Take())
	case "settle":
		if err := d.leases[asked.Lease].Settle(ctx); err != nil {
			return failure(err)
		}
		return verdict{"is": "ok"}
	}
	return verdict{"is": "unknown command " + asked.Do}
}

func (d *driver) connect(asked command) verdict {
	if d.client != nil {
		d.client.Close()
	}
	*d = driver{}
	ms := func(count int) time.Duration { return time.Duration(count) * time.Millisecond }
	client, err := epsledger.Connect(epsledger.Options{
		Address: asked.Address, Token: asked.Token, AllowInsecure: asked.AllowInsecure,
		Retry: epsledger.Retry{CallTimeout: ms(asked.Retry.CallTimeoutMs), OverallTimeout: ms(asked.Retry.OverallTimeoutMs),
			MaxTries: asked.Retry.MaxTries, InitialBackoff: ms(asked.Retry.InitialBackoffMs),
			MaxBackoff: ms(asked.Retry.MaxBackoffMs)}})
	if err != nil {
		return failure(err)
	}
	d.client = client
	return verdict{"is": "ok"}
}

func (d *driver) keep(permit *epsledger.Permit, err error) verdict {
	if err != nil {
		return failure(err)
	}
	d.permits = append(d.permits, permit)
	return verdict{"is": "permit", "charge": permit.Charge(), "sequence": strconv.FormatInt(permit.Sequence(), 10),
		"uses": strconv.FormatInt(permit.UsesLeft(), 10)}
}

func (c command) event() (*pb.MechanismEvent, int64) {
	event := &pb.MechanismEvent{}
	data, err := base64.StdEncoding.DecodeString(c.EventBytes)
	if err == nil {
		err = proto.Unmarshal(data, event)
	}
	count, wrong := strconv.ParseInt(c.Count, 10, 64)
	if err != nil || wrong != nil {
		panic(fmt.Sprint(err, wrong))
	}
	return event, count
}

func failure(err error) verdict {
	switch failed := err.(type) {
	case *epsledger.Refused:
		return verdict{"is": "refused", "reason": failed.Reason(), "charge": failed.Charge, "text": err.Error()}
	case *epsledger.OutcomeUnknown:
		return verdict{"is": "unknown", "charge_id": failed.ChargeID, "code": epsledger.CodeName(failed.Code),
			"text": err.Error()}
	case *epsledger.Spent:
		return verdict{"is": "spent", "text": err.Error()}
	case *epsledger.CallFailed:
		return verdict{"is": "error", "code": epsledger.CodeName(failed.Code), "text": err.Error()}
	}
	return verdict{"is": "another error", "text": err.Error()}
}
