// Package natsstore keeps objects in JetStream. Only programs of a fleet link it.
package natsstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/cupel-eval/cupel/harness/store"
)

// bucket has the names of objects in a key-value store, which has the conditions: an object
// store of JetStream has none. Small contents are there, too. Others are in an object store
// under random names, and are never changed.
type bucket struct {
	name     string
	names    jetstream.KeyValue
	contents jetstream.ObjectStore
}

// entry is the value of an object's name.
type entry struct {
	Size int64 `json:"size"`
	// Data is a small content, Content the name of another one. Older are contents that were
	// replaced: they stay until the object is removed, because someone may be reading them.
	Data    []byte   `json:"data,omitempty"`
	Content string   `json:"content,omitempty"`
	Older   []string `json:"older,omitempty"`
}

// small is the largest content that is stored with its name, in bytes.
const small = 64 << 10

// Open opens a store, which it makes if there is none of that name. One that exists keeps its
// settings, such as replicas. A process that is killed between the two steps of a put leaves a
// content behind that no name has.
func Open(ctx context.Context, js jetstream.JetStream, name string) (store.Store, error) {
	b := &bucket{name: name}
	var err error
	if b.names, err = js.KeyValue(ctx, name+"-names"); errors.Is(err, jetstream.ErrBucketNotFound) {
		b.names, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name + "-names"})
	}
	if err != nil {
		return nil, classified("open", name, err)
	}
	if b.contents, err = js.ObjectStore(ctx, name); errors.Is(err, jetstream.ErrBucketNotFound) {
		b.contents, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: name})
	}
	if err != nil {
		return nil, classified("open", name, err)
	}
	return b, nil
}

// key is an object's name as a key, which may have fewer characters.
func key(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func (b *bucket) Put(ctx context.Context, name string, body io.ReadSeeker, was store.Revision) (store.Revision, error) {
	if err := store.CheckName(name); err != nil {
		return store.None, err
	}
	rev, err := b.put(ctx, name, body, was)
	return rev, classified("put", name, err)
}

func (b *bucket) put(ctx context.Context, name string, body io.ReadSeeker, was store.Revision) (store.Revision, error) {
	size, err := body.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		return store.None, err
	}
	now, old, err := b.current(ctx, name)
	if err != nil {
		return store.None, err
	}
	if was != store.Any && was != now {
		return store.None, store.ErrChanged
	}
	e := entry{Size: size, Older: old.Older}
	if old.Content != "" {
		e.Older = append(e.Older, old.Content)
	}
	if size <= small {
		e.Data, err = io.ReadAll(body)
	} else {
		e.Content = nuid.Next()
		_, err = b.contents.Put(ctx, jetstream.ObjectMeta{Name: e.Content}, body)
	}
	if err != nil {
		return store.None, err
	}
	value, err := json.Marshal(e)
	if err != nil {
		return store.None, err
	}
	rev, err := b.replace(ctx, name, value, was, now)
	if err != nil {
		// The change may have been made, and its answer lost. Then the name has this content.
		is, found, lost := b.current(ctx, name)
		switch {
		case lost != nil: // the content stays, because the name may have it
		case found.Content == e.Content && bytes.Equal(found.Data, e.Data) && found.Size == e.Size && !errors.Is(err, store.ErrChanged):
			return is, nil
		case e.Content != "":
			_ = b.contents.Delete(ctx, e.Content)
		}
		return store.None, err
	}
	return rev, nil
}

// replace changes a name if the condition holds.
func (b *bucket) replace(ctx context.Context, name string, value []byte, was, now store.Revision) (store.Revision, error) {
	var rev uint64
	var err error
	switch was {
	case store.Any:
		rev, err = b.names.Put(ctx, key(name), value)
	case store.None:
		rev, err = b.names.Create(ctx, key(name), value)
	default:
		rev, err = b.names.Update(ctx, key(name), value, number(now))
	}
	if conflict(err) {
		err = store.ErrChanged
	}
	return revision(rev), err
}

func revision(n uint64) store.Revision { return store.Revision(strconv.FormatUint(n, 10)) }

func number(r store.Revision) uint64 {
	n, _ := strconv.ParseUint(string(r), 10, 64)
	return n
}

// conflict reports whether another change was first.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// current is what a name has now; None if it does not exist.
func (b *bucket) current(ctx context.Context, name string) (store.Revision, entry, error) {
	o, e, err := b.look(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return store.None, entry{}, nil
	}
	return o.Revision, e, err
}

func (b *bucket) look(ctx context.Context, name string) (store.Object, entry, error) {
	v, err := b.names.Get(ctx, key(name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Object{}, entry{}, err
	}
	return read(name, v)
}

func read(name string, v jetstream.KeyValueEntry) (o store.Object, e entry, err error) {
	if err = json.Unmarshal(v.Value(), &e); err != nil {
		return o, e, fmt.Errorf("its entry is damaged: %w", err)
	}
	return store.Object{Name: name, Size: e.Size, Modified: v.Created(), Revision: revision(v.Revision())}, e, nil
}

func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, store.Object, error) {
	if err := store.CheckName(name); err != nil {
		return nil, store.Object{}, err
	}
	o, e, err := b.look(ctx, name)
	var r io.ReadCloser
	switch {
	case err != nil:
	case e.Content == "":
		r = io.NopCloser(bytes.NewReader(e.Data))
	default:
		r, err = b.contents.Get(ctx, e.Content)
	}
	if err != nil {
		return nil, store.Object{}, classified("get", name, err)
	}
	return r, o, nil
}

func (b *bucket) Delete(ctx context.Context, name string) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	now, e, err := b.current(ctx, name)
	if err != nil || now == store.None {
		return classified("delete", name, err)
	}
	if err := b.names.Delete(ctx, key(name)); err != nil {
		return classified("delete", name, err)
	}
	for _, content := range append(e.Older, e.Content) {
		if content == "" {
			continue
		}
		if err := b.contents.Delete(ctx, content); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return classified("delete", name, err)
		}
	}
	return nil
}

// List reads all names first, because JetStream has them in the order of their changes.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		list, err := b.list(ctx, prefix)
		if err != nil {
			yield(store.Object{}, classified("list", prefix, err))
			return
		}
		for _, o := range list {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (b *bucket) list(ctx context.Context, prefix string) (list []store.Object, err error) {
	if err := store.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := b.names.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case v := <-w.Updates():
			if v == nil { // all that there was
				slices.SortFunc(list, func(a, b store.Object) int { return strings.Compare(a.Name, b.Name) })
				return list, nil
			}
			name, err := base64.RawURLEncoding.DecodeString(v.Key())
			if err != nil || !strings.HasPrefix(string(name), prefix) {
				continue
			}
			o, _, err := read(string(name), v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			o.Revision = store.None
			list = append(list, o)
		}
	}
}

// classified names the operation, and says what a failure means.
func classified(operation, name string, err error) error {
	var api *jetstream.APIError
	var kind error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrChanged), errors.Is(err, context.Canceled):
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrPermissionViolation), errors.Is(err, nats.ErrAuthExpired):
		kind = store.ErrDenied
	case errors.As(err, &api) && (strings.Contains(api.Description, "maximum bytes") || strings.Contains(api.Description, "insufficient") || strings.Contains(api.Description, "maximum messages")):
		kind = store.ErrFull
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrNoServers), errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, context.DeadlineExceeded), errors.As(err, &api) && api.Code >= 500:
		kind = store.ErrUnavailable
	}
	if kind == nil {
		return fmt.Errorf("%s %s: %w", operation, name, err)
	}
	return fmt.Errorf("%s %s: %w: %w", operation, name, kind, err)
}
