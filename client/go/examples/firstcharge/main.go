// Command firstcharge makes the first charge of a session, and draws noise only after it is accepted.
//
//	EPSLEDGER_SERVER, EPSLEDGER_TLS_CA, EPSLEDGER_TOKEN as for epsctl; the budget "people" must exist.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"

	epsledger "epsledger.dev/client/go"
	pb "epsledger.dev/client/go/epsledgerpb"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	options := epsledger.Options{Address: os.Getenv("EPSLEDGER_SERVER"), Token: os.Getenv("EPSLEDGER_TOKEN")}
	if path := os.Getenv("EPSLEDGER_TLS_CA"); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		authorities := x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(pem) {
			return fmt.Errorf("EPSLEDGER_TLS_CA: got %s, want a PEM file of authorities", path)
		}
		options.TLS = &tls.Config{RootCAs: authorities}
	}
	client, err := epsledger.Connect(options)
	if err != nil {
		return err
	}
	defer client.Close()

	session, err := client.Open(ctx, epsledger.SessionOptions{Budget: "people", Session: "first-run-in-go",
		Create: epsledger.NewSession(pb.NeighboringRelation_ADD_OR_REMOVE_ONE)})
	if err != nil {
		return err
	}
	step := &pb.MechanismEvent{Kind: &pb.MechanismEvent_PoissonSampled{PoissonSampled: &pb.PoissonSampled{
		SamplingProbability: proto.Float64(0.01),
		Event: &pb.MechanismEvent{Kind: &pb.MechanismEvent_Gaussian{
			Gaussian: &pb.Gaussian{NoiseMultiplier: proto.Float64(1.1)}}}}}}
	permit, err := session.Charge(ctx, step, 1)
	if err != nil {
		return err // refused, or unknown and so spent: no noise is drawn
	}
	if err := permit.Use(); err != nil {
		return err
	}
	fmt.Printf("charged as entry %d, durably: only now is noise drawn\n", permit.Sequence())
	return nil
}
