package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// folder is a Store of files.
type folder struct {
	root string
	// writing is locked while an object is replaced or removed, within the process; the lock
	// of lockFile is for other processes.
	writing sync.Mutex
}

// lockFile is locked while an object is replaced or removed. No object has its name.
const lockFile = ".lock"

// Folder returns a Store in a folder, which it creates when it writes first. A revision is
// the digest of a file's content. An object's name is the path of its file, so no name may
// be the folder of another.
func Folder(root string) Store { return &folder{root: root} }

func (f *folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *folder) Put(ctx context.Context, name string, body io.ReadSeeker, was Revision) (Revision, error) {
	rev, err := f.put(ctx, name, body, was)
	return rev, classified("put", name, err)
}

func (f *folder) put(ctx context.Context, name string, body io.ReadSeeker, was Revision) (Revision, error) {
	if err := CheckName(name); err != nil {
		return None, err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return None, err
	}
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return None, err
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return None, err
	}
	defer file.Abort()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(file, sum), &reader{ctx, body}); err != nil {
		return None, err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return None, err
	}
	defer unlock()
	if was != Any {
		is, err := f.revision(ctx, path)
		if err != nil {
			return None, err
		}
		if is != was {
			return None, ErrChanged
		}
	}
	return Revision(hex.EncodeToString(sum.Sum(nil))), file.Commit()
}

// revision is that of a file; None if there is none.
func (f *folder) revision(ctx context.Context, path string) (Revision, error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return None, nil
	}
	if err != nil {
		return None, err
	}
	rev, err := digest(ctx, file)
	return rev, errors.Join(err, file.Close())
}

func digest(ctx context.Context, r io.Reader) (Revision, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, &reader{ctx, r})
	return Revision(hex.EncodeToString(sum.Sum(nil))), err
}

func (f *folder) Get(ctx context.Context, name string) (io.ReadCloser, Object, error) {
	file, o, err := f.get(ctx, name)
	if err != nil {
		return nil, o, classified("get", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&reader{ctx, file}, file}, o, nil
}

func (f *folder) get(ctx context.Context, name string) (*os.File, Object, error) {
	if err := CheckName(name); err != nil {
		return nil, Object{}, err
	}
	file, err := regular.Open(f.path(name))
	if err != nil {
		return nil, Object{}, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	var rev Revision
	if err == nil {
		rev, err = digest(ctx, file)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, Object{}, errors.Join(err, file.Close())
	}
	return file, Object{Name: name, Size: info.Size(), Modified: info.ModTime(), Revision: rev}, nil
}

func (f *folder) Delete(ctx context.Context, name string) error {
	return classified("delete", name, f.remove(ctx, name))
}

func (f *folder) remove(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	info, err := os.Lstat(f.path(name))
	if err != nil || info.IsDir() {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lockPoll is how often a lock that another process has is tried again.
const lockPoll = 5 * time.Millisecond

// lock waits for the lock of the folder. A process that ends gives it back.
func (f *folder) lock(ctx context.Context) (unlock func(), err error) {
	file, err := regular.OpenFile(filepath.Join(f.root, lockFile), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	f.writing.Lock()
	unlock = func() { f.writing.Unlock(); _ = file.Close() }
	for {
		held, err := atomicfile.Lock(file)
		if err != nil {
			unlock()
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if !held {
			return unlock, nil
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

func (f *folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		err := CheckPrefix(prefix)
		if err == nil {
			err = f.list(ctx, "", prefix, func(o Object) bool { return yield(o, nil) })
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Object{}, classified("list", prefix, err))
		}
	}
}

var errEnough = errors.New("the caller has enough")

// list visits the objects below a folder, which is empty or ends with a slash.
func (f *folder) list(ctx context.Context, below, prefix string, visit func(Object) bool) error {
	entries, err := os.ReadDir(f.path(below))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(key(a), key(b)) })
	for _, e := range entries {
		name := below + key(e)
		if err := ctx.Err(); err != nil {
			return err
		}
		matches := strings.HasPrefix(name, prefix)
		switch {
		case e.Name()[0] == '.':
		case e.IsDir() && (matches || strings.HasPrefix(prefix, name)):
			if err := f.list(ctx, name, prefix, visit); err != nil {
				return err
			}
		case e.Type().IsRegular() && matches:
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) { // removed since
				continue
			}
			if err != nil {
				return err
			}
			if !visit(Object{Name: name, Size: info.Size(), Modified: info.ModTime()}) {
				return errEnough
			}
		}
	}
	return nil
}

// reader ends with the error of a context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// classified names the operation, and wraps the error of this package that a file system's
// error stands for.
func classified(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	kind := error(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		kind = ErrDenied
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind = ErrFull
	}
	if kind == nil {
		return fmt.Errorf("%s %s: %w", operation, name, err)
	}
	return fmt.Errorf("%s %s: %w: %w", operation, name, kind, err)
}

// ReadAll returns an object of at most limit bytes and its revision.
func ReadAll(ctx context.Context, s Store, name string, limit int64) ([]byte, Object, error) {
	r, o, err := s.Get(ctx, name)
	if err != nil {
		return nil, o, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && int64(b.Len()) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, o, fmt.Errorf("get %s: %w", name, err)
	}
	return b.Bytes(), o, nil
}
