// Package storetest is the contract that every implementation of store.Store passes.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/store"
)

// Run runs the contract. open returns a further client of one store, which is empty before
// the first call in a test.
func Run(t *testing.T, open func(t *testing.T) func() store.Store) {
	for name, test := range map[string]func(*testing.T, func() store.Store){
		"conditions":      conditions,
		"lists":           lists,
		"names":           names,
		"large":           large,
		"cancelled":       cancelled,
		"one of many":     oneOfMany,
		"no update lost":  noUpdateLost,
		"readers see one": readersSeeOne,
		"random":          random,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t *testing.T, s store.Store, name, text string, was store.Revision) store.Revision {
	t.Helper()
	rev, err := s.Put(t.Context(), name, strings.NewReader(text), was)
	require.NoError(t, err)
	require.NotContains(t, []store.Revision{store.None, store.Any}, rev)
	return rev
}

func get(t *testing.T, s store.Store, name string) (string, store.Object) {
	t.Helper()
	text, o, err := store.ReadAll(t.Context(), s, name, 1<<20)
	require.NoError(t, err)
	require.Equal(t, name, o.Name)
	require.Equal(t, int64(len(text)), o.Size)
	require.False(t, o.Modified.IsZero())
	return string(text), o
}

func conditions(t *testing.T, open func() store.Store) {
	s, other := open(), open()
	_, _, err := s.Get(t.Context(), "a/b")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorContains(t, err, "a/b")
	_, err = s.Put(t.Context(), "a/b", strings.NewReader("x"), "no-such-revision")
	require.ErrorIs(t, err, store.ErrChanged, "changing what does not exist")
	_, _, err = s.Get(t.Context(), "a/b")
	require.ErrorIs(t, err, store.ErrNotFound, "a refused put changes nothing")

	first := put(t, s, "a/b", "one", store.None)
	_, err = other.Put(t.Context(), "a/b", strings.NewReader("two"), store.None)
	require.ErrorIs(t, err, store.ErrChanged)
	require.ErrorContains(t, err, "a/b")
	text, o := get(t, other, "a/b")
	require.Equal(t, "one", text)
	require.Equal(t, first, o.Revision, "Get and Put return one revision")

	second := put(t, other, "a/b", "two", first)
	require.NotEqual(t, first, second)
	_, err = s.Put(t.Context(), "a/b", strings.NewReader("three"), first)
	require.ErrorIs(t, err, store.ErrChanged, "an outdated revision")
	text, _ = get(t, s, "a/b")
	require.Equal(t, "two", text)

	put(t, s, "a/b", "any", store.Any)
	put(t, s, "a/c", "", store.Any)
	text, _ = get(t, other, "a/c")
	require.Empty(t, text)

	// What was read half is sent from its beginning.
	body := strings.NewReader("whole")
	_, _ = io.CopyN(io.Discard, body, 3)
	_, err = s.Put(t.Context(), "a/b", body, store.Any)
	require.NoError(t, err)
	text, o = get(t, s, "a/b")
	require.Equal(t, "whole", text)

	require.NoError(t, s.Delete(t.Context(), "a/b"))
	require.NoError(t, s.Delete(t.Context(), "a/b"), "nothing is removed twice")
	_, err = s.Put(t.Context(), "a/b", strings.NewReader("late"), o.Revision)
	require.ErrorIs(t, err, store.ErrChanged, "the object was removed")
	put(t, other, "a/b", "again", store.None)
}

func lists(t *testing.T, open func() store.Store) {
	s := open()
	require.Empty(t, list(t, s, ""))
	all := []string{"a", "ab/c", "b-c", "b/c", "b/d/e", "b/é", "bc"}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(all)) {
		put(t, s, all[i], all[i], store.None)
	}
	for _, prefix := range []string{"", "a", "ab", "b", "b/", "b/d", "b/d/", "b-", "x", "b/d/e", "b/d/e/"} {
		want := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !strings.HasPrefix(n, prefix) })
		require.ElementsMatch(t, want, list(t, s, prefix), "prefix %q", prefix)
		require.True(t, slices.IsSorted(list(t, s, prefix)), "prefix %q", prefix)
	}
	for o, err := range s.List(t.Context(), "") { // a caller may stop
		require.NoError(t, err)
		require.Equal(t, int64(len(o.Name)), o.Size)
		require.False(t, o.Modified.IsZero())
		break
	}
	require.NoError(t, s.Delete(t.Context(), "b/d/e"))
	require.Equal(t, []string{"b/c", "b/é"}, list(t, s, "b/"))
}

func list(t *testing.T, s store.Store, prefix string) (names []string) {
	t.Helper()
	for o, err := range s.List(t.Context(), prefix) {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	return names
}

func names(t *testing.T, open func() store.Store) {
	s := open()
	for _, bad := range []string{"", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/..", ".", "a/./b", ".hidden", "a/.hidden", `a\b`, "a\x00b", "a\nb", "a:b", "a*", "\xff", strings.Repeat("x", 201), strings.Repeat("x/", 451) + "x"} {
		_, err := s.Put(t.Context(), bad, strings.NewReader("x"), store.Any)
		require.Error(t, err, "put %q", bad)
		_, _, err = s.Get(t.Context(), bad)
		require.Error(t, err, "get %q", bad)
		require.NotErrorIs(t, err, store.ErrNotFound, "get %q", bad)
		require.Error(t, s.Delete(t.Context(), bad), "delete %q", bad)
	}
	for _, err := range s.List(t.Context(), "../") {
		require.Error(t, err)
	}
	for _, good := range []string{"a b/c+d=e&f%20", strings.Repeat("x", 200), "日本/é"} {
		put(t, s, good, good, store.None)
		text, _ := get(t, s, good)
		require.Equal(t, good, text)
	}
}

// large objects are streamed, and their revisions are those of their whole content.
func large(t *testing.T, open func() store.Store) {
	s := open()
	const size = 17<<20 + 13
	random := func(seed uint64) io.ReadSeeker {
		b := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
		return bytes.NewReader(b)
	}
	rev, err := s.Put(t.Context(), "big", random(1), store.None)
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "big", random(2), store.None)
	require.ErrorIs(t, err, store.ErrChanged)
	r, o, err := s.Get(t.Context(), "big")
	require.NoError(t, err)
	require.Equal(t, rev, o.Revision)
	require.Equal(t, int64(size), o.Size)
	got, want := sha256.New(), sha256.New()
	_, err = io.Copy(got, r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, _ = io.Copy(want, random(1))
	require.Equal(t, want.Sum(nil), got.Sum(nil))
	_, err = s.Put(t.Context(), "big", random(2), rev)
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "big", random(3), rev)
	require.ErrorIs(t, err, store.ErrChanged)
}

func cancelled(t *testing.T, open func() store.Store) {
	s := open()
	put(t, s, "a", "one", store.None)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Put(ctx, "a", strings.NewReader("two"), store.Any)
	require.ErrorIs(t, err, context.Canceled)
	r, _, err := s.Get(ctx, "a")
	if err == nil {
		_, err = io.ReadAll(r)
		require.NoError(t, r.Close())
	}
	require.ErrorIs(t, err, context.Canceled)
	var failed error
	for _, err := range s.List(ctx, "") {
		failed = err
	}
	require.ErrorIs(t, failed, context.Canceled)
	text, _ := get(t, s, "a")
	require.Equal(t, "one", text)
}

// Of writers that make one object at the same time, one succeeds.
func oneOfMany(t *testing.T, open func() store.Store) {
	const writers, rounds = 6, 8
	for round := range rounds {
		var wg sync.WaitGroup
		won := make([]error, writers)
		name := fmt.Sprintf("lock/%d", round)
		for i := range writers {
			s := open()
			wg.Go(func() {
				_, won[i] = s.Put(t.Context(), name, strings.NewReader(fmt.Sprint("writer ", i)), store.None)
			})
		}
		wg.Wait()
		winner := -1
		for i, err := range won {
			if err == nil {
				require.Equal(t, -1, winner, "two writers made one object")
				winner = i
				continue
			}
			require.ErrorIs(t, err, store.ErrChanged)
		}
		text, _ := get(t, open(), name)
		require.Equal(t, fmt.Sprint("writer ", winner), text)
	}
}

// Writers that read, change and write one object under a condition lose no change.
func noUpdateLost(t *testing.T, open func() store.Store) {
	const writers, each = 4, 8
	put(t, open(), "n", "", store.None)
	var wg sync.WaitGroup
	failed := make([]error, writers)
	for i := range writers {
		s := open()
		wg.Go(func() {
			for n := 0; n < each && failed[i] == nil; {
				text, o, err := store.ReadAll(t.Context(), s, "n", 1<<20)
				if err == nil {
					_, err = s.Put(t.Context(), "n", strings.NewReader(fmt.Sprintf("%s %d.%d", text, i, n)), o.Revision)
				}
				if err == nil {
					n++
				} else if !errors.Is(err, store.ErrChanged) {
					failed[i] = err
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(failed...))
	text, _ := get(t, open(), "n")
	require.Len(t, strings.Fields(text), writers*each)
}

// A reader sees one version or another, whatever is written meanwhile.
func readersSeeOne(t *testing.T, open func() store.Store) {
	s := open()
	version := func(i int) string { return strings.Repeat(fmt.Sprintf("%04d", i), 20_000) }
	put(t, s, "v", version(0), store.None)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 1; i <= 20 && err == nil; i++ {
			_, err = s.Put(context.WithoutCancel(t.Context()), "v", strings.NewReader(version(i)), store.Any)
		}
		done <- err
	}()
	reader := open()
	for {
		text, _ := get(t, reader, "v")
		require.Equal(t, strings.Repeat(text[:4], 20_000), text)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

// random compares the store with a map.
func random(t *testing.T, open func() store.Store) {
	clients := []store.Store{open(), open()}
	rng := rand.New(rand.NewPCG(7, 7))
	model, revisions := map[string]string{}, map[string]store.Revision{}
	for i := range 150 {
		s := clients[rng.IntN(2)]
		name := fmt.Sprintf("r/%d", rng.IntN(4))
		switch rng.IntN(4) {
		case 0:
			require.NoError(t, s.Delete(t.Context(), name))
			delete(model, name)
		case 1:
			text, _, err := store.ReadAll(t.Context(), s, name, 100)
			if want, ok := model[name]; ok {
				require.NoError(t, err)
				require.Equal(t, want, string(text))
			} else {
				require.ErrorIs(t, err, store.ErrNotFound)
			}
		default:
			text := fmt.Sprint(i)
			was := []store.Revision{store.None, store.Any, revisions[name]}[rng.IntN(3)]
			_, exists := model[name]
			rev, err := s.Put(t.Context(), name, strings.NewReader(text), was)
			if was == store.Any || was == store.None && !exists || was != store.None && was == revisions[name] && exists {
				require.NoError(t, err)
				model[name], revisions[name] = text, rev
			} else {
				require.ErrorIs(t, err, store.ErrChanged)
			}
		}
	}
}
