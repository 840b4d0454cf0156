package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/cupel-eval/cupel/providers"
)

// sent answers with a reply that is there already, or takes the request that a wire makes.
type sent func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (s sent) RoundTrip(req *http.Request) (*http.Response, error) { return s(req) }

// Live reports that nothing is signed: no network is reached.
func (sent) Live() bool { return false }

// Decode puts a reply through the whole wire of a provider, and closes its body. model and
// stream are those of the request. The error and what is known with it are those of
// providers.Model. Times are those of the body if it has a method Elapsed; see
// providers.Options.
func Decode(ctx context.Context, f providers.Factory, model string, stream bool, resp *http.Response) (providers.Reply, error) {
	return DecodeFrom(ctx, f, model, stream, func() (*http.Response, error) { return resp, nil })
}

// DecodeFrom is Decode of the reply, or the failure of the transport, that send returns.
func DecodeFrom(ctx context.Context, f providers.Factory, model string, stream bool, send func() (*http.Response, error)) (providers.Reply, error) {
	var body io.Closer = http.NoBody
	defer func() { _ = body.Close() }() // only read: nothing can be lost
	m, err := f(providers.Options{BaseURL: "http://recorded.invalid/v1", Region: "us-east-1", HTTP: &http.Client{Transport: sent(
		func(req *http.Request) (*http.Response, error) {
			resp, err := send()
			if err != nil {
				return nil, err
			}
			out := *resp
			body, out.Request, out.StatusCode = resp.Body, req, cmp.Or(resp.StatusCode, http.StatusOK)
			return &out, nil
		})}})
	if err != nil {
		return providers.Reply{}, err
	}
	return m.Call(ctx, dummy(model, stream))
}

// dummy is a call of a model, whatever it says.
func dummy(model string, stream bool) providers.Call {
	return providers.Call{
		Model: cmp.Or(model, "unknown"), Messages: []providers.Message{{Role: providers.RoleUser, Text: "recorded"}}, Stream: stream,
	}
}

// errTaken ends the call whose request was wanted.
var errTaken = errors.New("not sent")

// HTTP returns the request to send to a provider: r at the address, with the query, the
// headers and the credential that the provider's own wire would use.
func (r Request) HTTP(ctx context.Context, f providers.Factory, o providers.Options) (*http.Request, error) {
	var own *http.Request
	o.HTTP = &http.Client{Transport: sent(func(req *http.Request) (*http.Response, error) {
		own = req
		return nil, errTaken
	})}
	m, err := f(o)
	if err != nil {
		return nil, err
	}
	if _, err := m.Call(ctx, dummy(r.Model, r.Stream)); own == nil {
		return nil, err
	}
	address := *own.URL
	for _, e := range endpoints {
		if found := e.fits.FindStringSubmatch(address.EscapedPath()); found != nil && e.kind == Chat {
			path := found[1] + found[2] + r.Endpoint
			if address.Path, err = url.PathUnescape(path); err != nil {
				return nil, err
			}
			address.RawPath = path
			break
		}
	}
	address.RawQuery = joinQuery(address.RawQuery, r.Query)
	req, err := http.NewRequestWithContext(ctx, r.Method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header = own.Header
	maps.Copy(req.Header, r.Header)
	return req, nil
}

// joinQuery adds a provider's own query to a program's, which says by itself how it streams.
func joinQuery(own, sent string) string {
	all, _ := url.ParseQuery(sent) // what cannot be read is left out
	ours, _ := url.ParseQuery(own) // a wire made it
	delete(ours, "alt")
	maps.Copy(all, ours)
	return all.Encode()
}
