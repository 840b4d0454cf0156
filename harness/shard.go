package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Shard is the i-th of n parts of a plan, from 1; the zero value means the whole plan. An
// episode's shard depends on its task, candidate and trial alone, so adding tasks does not
// move other episodes.
type Shard struct{ Index, Count int }

// maxShards bounds a mistyped --shard.
const maxShards = 1000

// ParseShard reads i/n.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	s := Shard{i, n}
	if !ok || err1 != nil || err2 != nil || s.check() != nil || n == 0 {
		return Shard{}, fmt.Errorf("shard %.40q: write i/n with i from 1 to n and n at most %d, such as 2/3", text, maxShards)
	}
	return s, nil
}

// String is the shard as ParseShard reads it; empty for the whole plan.
func (s Shard) String() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

func (s Shard) check() error {
	if s != (Shard{}) && (s.Index < 1 || s.Index > s.Count || s.Count > maxShards) {
		return fmt.Errorf("shard %d/%d: must be i/n with i from 1 to n and n at most %d", s.Index, s.Count, maxShards)
	}
	return nil
}

// has reports whether an episode belongs to the shard.
func (s Shard) has(episode string) bool {
	if s.Count <= 1 {
		return true
	}
	sum := sha256.Sum256([]byte("cupel/shard/1\x00" + episode))
	return binary.BigEndian.Uint64(sum[:])%uint64(s.Count) == uint64(s.Index-1)
}
