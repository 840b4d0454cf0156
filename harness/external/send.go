package external

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
)

// Sender sends the model requests of one episode. It is safe for concurrent use.
type Sender struct {
	Upstream *Upstream
	Wires
	// Base returns the transport for a provider's requests; nil means http.DefaultTransport.
	Base     func(provider string) http.RoundTripper
	Recorder *recorder.Recorder
	// Control admits requests; nil admits all.
	Control *admission.Control
	// Candidate and Episode name who asks.
	Candidate, Episode string
	// Run ends when the run is stopped.
	Run context.Context

	mu   sync.Mutex
	sent int
	// failures are those of providers by place; last is the place of the latest reply.
	failures map[int]*fault.Error
	last     int
}

// outgoing is one request on its way to a model.
type outgoing struct {
	gateway.Request
	to target
	// stored is the body that is stored and matched, in place of the request's.
	stored []byte
	// call is how the record has it, and place its place there and on the cassette, from 1.
	call  *ModelCall
	place int
	// wait runs what waits for admission.
	wait func(func())
	// admitted is called once the request is admitted; an error refuses it.
	admitted func() error
	// over is called with the exchange, the reply as read through its wire, and its cost if
	// that is known.
	over func(x recorder.Exchange, reply providers.Reply, cost *int64)
}

// send sends a request once it is admitted. ctx ends when nothing waits for the reply any
// more. The error is that of the run, such as a spent cap.
func (s *Sender) send(ctx context.Context, o *outgoing) (*http.Response, error) {
	out := &sending{body: o.Body, base: http.DefaultTransport, ended: ctx}
	if s.Base != nil {
		if base := s.Base(o.to.provider); base != nil {
			out.base = base
		}
	}
	options := s.Upstream.Options[o.to.provider]
	req, err := o.HTTP(s.Run, s.Factories[o.to.provider], options)
	if err != nil {
		return nil, &refusedError{err}
	}
	s.mu.Lock()
	s.sent++
	id := s.Episode + "-" + strconv.Itoa(s.sent)
	s.mu.Unlock()
	req.Header.Set("X-Client-Request-Id", id)
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(bytes.NewReader(o.stored)), int64(len(o.stored)), nil
	if s.Control != nil {
		if out.permit, err = s.admit(ctx, o, s.Control.Lane(o.to.provider, options.BaseURL+"\x00"+options.Key), id); err != nil {
			return nil, err
		}
	}
	if err := o.admitted(); err != nil {
		if out.permit != nil {
			out.permit.Done(admission.Result{Err: err})
		}
		return nil, &refusedError{err}
	}
	reply := &reply{s: s, o: o, permit: out.permit, asker: ctx}
	inner := drive.WithTransport(recorder.Ordered(s.Run, o.place), out)
	inner = recorder.Observe(inner, func(x recorder.Exchange) { reply.exchange = x })
	resp, err := s.Recorder.RoundTrip(req.WithContext(inner))
	if err != nil {
		reply.over(nil, err)
		return badGateway(o.Wire, err), nil
	}
	reply.resp, reply.ReadCloser = *resp, resp.Body
	resp.Body = reply
	return resp, nil
}

// refusedError is why one request is refused while the episode continues.
type refusedError struct{ error }

// badGateway is the reply to a request whose exchange failed without one.
func badGateway(wire string, err error) *http.Response {
	header, body := gateway.Failure(wire, http.StatusBadGateway, err.Error())
	return &http.Response{StatusCode: http.StatusBadGateway, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}
}

// admit waits until a request may be sent.
func (s *Sender) admit(ctx context.Context, o *outgoing, lane *admission.Lane, id string) (permit *admission.Permit, err error) {
	input, output := int64(len(o.Body)), int64(-1)
	if o.MaxOutput > 0 {
		output = int64(o.MaxOutput) * int64(o.Choices)
	} else if o.Kind != gateway.Chat {
		output = 0
	}
	r := admission.Request{
		Candidate: s.Candidate, ID: id, Model: o.to.model, Input: input, Output: output, Text: input, CostNanoUSD: -1,
		Price: func(input, output int64) (int64, bool) {
			return s.Prices.Worst(o.to.provider, o.to.model, input, output, s.Day)
		},
	}
	if cost, known := r.Price(r.Input, r.Output); known {
		r.CostNanoUSD = cost
	}
	o.wait(func() { permit, err = lane.Acquire(ctx, r) })
	if errors.Is(err, admission.ErrCapped) {
		err = &fault.Error{Kind: fault.Quota, Provider: o.to.provider, Model: o.to.model, Permanent: true, Err: err}
	}
	return permit, err
}

// reply is a reply on its way to the agent. At its end it is read through its wire.
type reply struct {
	io.ReadCloser
	s        *Sender
	o        *outgoing
	permit   *admission.Permit
	resp     http.Response
	exchange recorder.Exchange
	text     bytes.Buffer
	asker    context.Context
	gone     bool // the agent, before the last piece came
	ended    bool
}

// Read implements io.Reader.
func (r *reply) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.text.Write(p[:n]); n > 0 {
		r.gone = proxy.Gone(r.asker)
	}
	if err != nil {
		r.over(&r.resp, err)
	}
	return n, err
}

// Close implements io.Closer.
func (r *reply) Close() error {
	err := r.ReadCloser.Close()
	r.over(&r.resp, err)
	return err
}

// over takes the end of the exchange, once. resp is nil if there was no reply.
func (r *reply) over(resp *http.Response, failed error) {
	if r.ended {
		return
	}
	r.ended = true
	s, to := r.s, r.o.to
	read, err := s.read(s.Run, r.o.call, func() (*http.Response, error) {
		if resp == nil {
			return nil, failed
		}
		resp.Body = io.NopCloser(&r.text)
		return resp, nil
	})
	var cost *int64
	if nano, ok := s.Prices.Cost(to.provider, to.model, read.Usage, s.Day); ok {
		cost = &nano
	}
	if r.permit != nil {
		usage := read.Usage
		usage.Reported = usage.Reported && len(usage.NotUnderstood) == 0
		r.permit.Done(admission.Result{Err: err, Usage: usage, CostNanoUSD: cost})
	}
	s.mu.Lock()
	if failed := (*fault.Error)(nil); errors.As(err, &failed) {
		if s.failures == nil {
			s.failures = map[int]*fault.Error{}
		}
		s.failures[r.o.place] = failed
	}
	s.last = max(s.last, r.o.place)
	s.mu.Unlock()
	r.o.call.Abandoned = r.gone
	r.o.over(r.exchange, read, cost)
}

// failed returns the failure of a provider after which no reply came, unless the agent's request
// caused it; nil if there was none. A resumed recording sends the requests that failed again.
func (s *Sender) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.failures[s.last]
	if err == nil {
		return nil
	}
	switch {
	case err.Status/100 == 3, err.Kind == fault.NotFound && s.Upstream.names(err.Model): // what the user set
		return err
	case slices.Contains([]fault.Kind{fault.InvalidRequest, fault.ContextLength, fault.NotFound, fault.Refused}, err.Kind):
		return nil
	}
	return err
}

// retract has a resumed recording send the requests that failed again.
func (s *Sender) retract() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for place := range s.failures {
		s.Recorder.Retract(place)
	}
}
