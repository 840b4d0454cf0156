package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/minio/minio-go/v7"

	"github.com/cupel-eval/cupel/harness/store"
)

// classified names the operation, and says what a failure means.
func (b *bucket) classified(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	at := fmt.Sprintf("%s s3://%s/%s%s", operation, b.name, b.prefix, name)
	r := response(err)
	switch {
	case errors.Is(err, store.ErrChanged), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", at, err)
	case r.Code == minio.NoSuchBucket:
		return fmt.Errorf("%s: there is no bucket %s: make it first, or correct the address", at, b.name)
	case r.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("%s: the server does not have what cupel needs, such as conditional puts: %w", at, err)
	}
	if kind := kindOf(r, err); kind != nil {
		return fmt.Errorf("%s: %w: %w; %s", at, kind, err, advice(kind, r, err))
	}
	return fmt.Errorf("%s: %w", at, err)
}

// advice says what to do.
func advice(kind error, r minio.ErrorResponse, err error) string {
	switch {
	case r.Code == minio.RequestTimeTooSkewed:
		return "set the clock of this machine, which differs from that of the store"
	case errors.Is(err, errNoRole):
		return noCredentials
	case errors.Is(kind, store.ErrDenied):
		return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and what they are allowed"
	case errors.Is(kind, store.ErrFull):
		return "make room, then repeat the command"
	case r.StatusCode == 0:
		return "check AWS_ENDPOINT_URL_S3, or repeat the command later"
	}
	return "repeat the command later"
}

// response is the answer of the server in an error; zero if there was none.
func response(err error) (r minio.ErrorResponse) {
	_ = errors.As(err, &r)
	return r
}

// full are the codes of servers without space.
var full = []string{"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "ServiceQuotaExceededException"}

// denied are the codes of servers that answer with another status than 403 that a key does not exist.
var denied = []string{minio.InvalidAccessKeyID, "XAdminUserNotFound"}

func kindOf(r minio.ErrorResponse, err error) error {
	switch {
	case r.Code == minio.NoSuchKey:
		return store.ErrNotFound
	case r.Code == minio.PreconditionFailed:
		return store.ErrChanged
	case slices.Contains(full, r.Code), r.StatusCode == http.StatusInsufficientStorage:
		return store.ErrFull
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized, slices.Contains(denied, r.Code), errors.Is(err, errNoRole):
		return store.ErrDenied
	case r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout,
		r.StatusCode == http.StatusConflict: // another conditional put is in progress
		return store.ErrUnavailable
	case r.StatusCode == 0, errors.Is(err, io.ErrUnexpectedEOF): // no answer, or half of it
		return store.ErrUnavailable
	}
	return nil
}
