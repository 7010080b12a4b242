// Package epsledger charges an epsledger server before each noisy step, and is refused when the step would overspend.
//
// The rules that it keeps are those of tests/conformance/README.md. The messages of the API are in epsledgerpb.
package epsledger

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	pb "epsledger.dev/client/go/epsledgerpb"
)

// Options of a connection.
type Options struct {
	Address string      // "host:port" or "unix:path"; "": 127.0.0.1:50551
	TLS     *tls.Config // nil: plaintext, to loopback addresses and unix sockets only
	// AllowInsecure allows plaintext to other addresses. Anybody who can change the answers on the way can turn a
	// refusal into a permit.
	AllowInsecure bool
	// Token is the caller's secret, "epsl_..."; "": none. It is never sent without TLS to an address that is not local.
	Token string
	Retry Retry
}

// Client is a connection to a server. Safe for concurrent use.
type Client struct {
	connection *grpc.ClientConn
	charges    pb.ChargeServiceClient
	sessions   pb.SessionServiceClient
	retry      Retry
	heads      *seenHeads
}

// Connect checks the options; the first call connects. *CallFailed names the option that is wrong.
func Connect(options Options) (*Client, error) {
	if options.Address == "" {
		options.Address = "127.0.0.1:50551"
	}
	retry, err := options.Retry.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkAddress(options); err != nil {
		return nil, err
	}
	security := grpc.WithTransportCredentials(insecure.NewCredentials())
	if options.TLS != nil {
		security = grpc.WithTransportCredentials(credentials.NewTLS(options.TLS))
	}
	dial := []grpc.DialOption{
		security,
		grpc.WithDisableRetry(), // Retry alone decides the number of tries
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 10 * time.Second, Backoff: backoff.Config{
			BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.WithUnaryInterceptor(sendToken(options.Token)),
	}
	if options.TLS == nil { // a proxy from the environment would carry it off the machine
		dial = append(dial, grpc.WithNoProxy())
	}
	connection, err := grpc.NewClient(options.Address, dial...)
	if err != nil {
		return nil, invalid("Address", options.Address, fmt.Sprintf("host:port or unix:path (%v)", err))
	}
	return &Client{connection: connection, charges: pb.NewChargeServiceClient(connection),
		sessions: pb.NewSessionServiceClient(connection), retry: retry,
		heads: &seenHeads{heads: map[string]*pb.LedgerHead{}}}, nil
}

// Close ends the connection. Its sessions charge nothing more.
func (c *Client) Close() error { return c.connection.Close() }

// Connection is for the parts of the API that this package has no words for: pb.NewSessionServiceClient(connection).
func (c *Client) Connection() *grpc.ClientConn { return c.connection }

// SessionOptions say which session is opened.
type SessionOptions struct {
	Budget  string // "people" or "budgets/people"; it must exist
	Session string // the last segment of the session's name
	// Create is the session to create first; if one with the same content exists, nothing changes. nil: it must exist.
	Create *pb.Session
	// Provenance and Description say what the attempt declares about itself.
	Provenance  *pb.Provenance
	Description string
}

// NewSession returns an adaptive session without a cap of its own, for SessionOptions.Create.
func NewSession(relation pb.NeighboringRelation_Kind) *pb.Session {
	return &pb.Session{Mode: pb.Session_ADAPTIVE, NeighboringRelation: relation, NoOwnCap: true}
}

// Open opens the next attempt of a session, which fences all earlier ones.
func (c *Client) Open(ctx context.Context, options SessionOptions) (*Session, error) {
	budget := "budgets/" + strings.TrimPrefix(options.Budget, "budgets/")
	name := budget + "/sessions/" + options.Session
	if options.Create != nil {
		err := c.call(ctx, func(ctx context.Context) error {
			_, err := c.sessions.CreateSession(ctx, &pb.CreateSessionRequest{
				Parent: budget, SessionId: options.Session, Session: options.Create})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	request := &pb.OpenAttemptRequest{Session: name, ClientDescription: options.Description,
		Provenance: options.Provenance, LastSeenHead: c.heads.of(name)}
	var attempt *pb.Attempt
	err := c.call(ctx, func(ctx context.Context) (err error) {
		attempt, err = c.sessions.OpenAttempt(ctx, request)
		return err
	})
	if err != nil {
		return nil, err
	}
	if attempt.GetNumber() < 1 || attempt.GetName() != fmt.Sprintf("%s/attempts/%d", name, attempt.GetNumber()) {
		return nil, &CallFailed{codes.Internal, fmt.Sprintf("the server opened the attempt %q number %d of %s: these do "+
			"not fit together", attempt.GetName(), attempt.GetNumber(), name)}
	}
	if wrong := c.heads.accept(name, attempt, request.LastSeenHead); wrong != "" {
		return nil, &CallFailed{codes.DataLoss, wrong}
	}
	return &Session{client: c, name: name, attempt: attempt.GetName(), unknown: map[string]*pb.ChargeRequest{}}, nil
}

// call makes a call that may be repeated without harm.
func (c *Client) call(ctx context.Context, once func(context.Context) error) error {
	all := c.retry.untilDefinite(ctx, once)
	if all.last == nil {
		return nil
	}
	for _, detail := range all.last.Details() { // a plan that does not fit
		if refusal, ok := detail.(*pb.Refusal); ok {
			return &Refused{Refusal: refusal}
		}
	}
	message := all.last.Message()
	if all.count > 1 {
		message += ", after " + all.String()
	}
	return &CallFailed{all.last.Code(), message}
}

func sendToken(token string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
		invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if token != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
		}
		return invoke(ctx, method, request, reply, connection, options...)
	}
}

// checkAddress refuses plaintext that others could read or change. Its errors never repeat the token.
func checkAddress(options Options) error {
	for _, letter := range options.Token {
		if letter <= ' ' || letter >= 0x7f {
			return invalid("Token", "something else", "the secret of a token, without white space")
		}
	}
	if options.TLS != nil || isLocal(options.Address) {
		return nil
	}
	if options.Token != "" {
		return &CallFailed{codes.InvalidArgument, "token: would be sent in plaintext to " + options.Address +
			", where others can read it on the way: use TLS"}
	}
	if !options.AllowInsecure {
		return invalid("Address", options.Address, "a loopback address or a unix socket where there is no TLS")
	}
	return nil
}

var hostAndPort = regexp.MustCompile(`^(?:\[([^\]]*)\]|([^:]*)):\d+$`)

// isLocal is true for a unix socket, a literal loopback address or "localhost" with a port, and for nothing else.
func isLocal(address string) bool {
	if strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "unix-abstract:") {
		return true
	}
	found := hostAndPort.FindStringSubmatch(address)
	if found == nil {
		return false
	}
	if found[2] == "localhost" {
		return true
	}
	ip := net.ParseIP(found[1] + found[2])
	return ip != nil && ip.IsLoopback() && (ip.To4() == nil) == (found[1] != "")
}
