// Package fault classifies the failures of model calls: every wire returns an *Error with
// a Kind that says whether the key, the request, the provider or the network failed.
package fault

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the class of a failure: what code branches on.
type Kind string

// The kinds of failure.
const (
	Auth           Kind = "auth"
	RateLimit      Kind = "rate_limit"
	Quota          Kind = "quota"
	ContextLength  Kind = "context_length"
	Refused        Kind = "refused"
	InvalidRequest Kind = "invalid_request"
	NotFound       Kind = "not_found"
	Overloaded     Kind = "overloaded"
	TimedOut       Kind = "timeout"
	Transport      Kind = "transport"
	Malformed      Kind = "malformed"
	// Unsupported is a reply with a call that cupel does not read.
	Unsupported Kind = "unsupported"
)

// Error is a failed providers.Model.Call. It never carries a request, a header or a key.
type Error struct {
	Kind Kind
	// Provider and Model say who was asked.
	Provider, Model string
	// Status is the HTTP status, 0 if none was received.
	Status int
	// Code and Message are the provider's own, bounded in length.
	Code, Message string
	RequestID     string
	// RetryAfter is the provider's advice; 0 if none was given.
	RetryAfter time.Duration
	// Permanent reports that the same request will not do better later, although the
	// kind suggests it: a request larger than its limit, or the provider saying so.
	Permanent bool
	// Partial reports that part of the reply had come.
	Partial bool
	// Attempts is how often the request was sent; 0 means once, by a Model that
	// does not retry.
	Attempts int
	// Err is the cause, if there is one.
	Err error
}

// Error names the provider, the model, the kind and what the provider said.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: model %s: %s", e.Provider, e.Model, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	if e.Code != "" {
		fmt.Fprintf(&b, " %s", e.Code)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Retryable reports whether sending the same request again may do better.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimit, Overloaded, TimedOut, Transport:
		return !e.Permanent
	}
	return false
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
