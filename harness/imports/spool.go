package imports

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// maxEpisode bounds an episode in the spool, in bytes.
const maxEpisode = 256 << 20

// spool keeps the episodes of an import in a temporary file until all are known: only then are their
// order, their trials and the run's id. In memory is an entry for each.
type spool struct {
	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash
	size    int64
	secrets *secrets.Finder
	first   int64 // start of the earliest episode
	index   []entry
	// tasks, candidates and variants are the names that entries have by number.
	tasks, candidates, variants names
	sources                     map[int32]map[string]bool // models and variants by candidate
}

// entry is an episode of the spool.
type entry struct {
	task, candidate, variant, trial int32
	size                            int32
	at, start                       int64
}

// names numbers texts.
type names struct {
	list []string
	at   map[string]int32
}

func (n *names) of(text string) int32 {
	i, ok := n.at[text]
	if !ok {
		if n.at == nil {
			n.at = map[string]int32{}
		}
		i = int32(len(n.list))
		n.list, n.at[text] = append(n.list, text), i
	}
	return i
}

// newSpool makes an empty one below dir, in a file that is gone with the process.
func newSpool(dir string, s *secrets.Finder) (*spool, error) {
	f, err := os.CreateTemp(dir, ".import-*.tmp")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // Unix keeps an open file; elsewhere close removes it
	sp := &spool{file: f, sum: sha256.New(), secrets: s, sources: map[int32]map[string]bool{}}
	sp.out = bufio.NewWriterSize(io.MultiWriter(f, sp.sum), 1<<20)
	return sp, nil
}

// close removes the file.
func (s *spool) close() { _, _ = s.file.Close(), os.Remove(s.file.Name()) }

// add takes an episode in.
func (s *spool) add(e *Episode) error {
	redact(s.secrets, e)
	e.Candidate = cmp.Or(word(e.Candidate), Mode)
	if e.Task = word(e.Task); e.Task == "" {
		text := "id " + e.ID
		if e.Request != nil {
			text = *e.Request
		}
		e.Task = "T-" + sealed.Digest([]byte(text))[:10]
	}
	line, err := json.Marshal(e)
	if err == nil && len(line) > maxEpisode {
		err = fmt.Errorf("more than %d bytes of texts", maxEpisode)
	}
	if err == nil {
		_, err = s.out.Write(line)
	}
	if err != nil {
		return fmt.Errorf("import episode %.80q: %w", e.ID, err)
	}
	candidate := s.candidates.of(e.Candidate)
	if s.sources[candidate] == nil {
		s.sources[candidate] = map[string]bool{}
	}
	s.sources[candidate][strings.Join([]string{e.Provider, e.Model, e.Agent, e.Variant}, "\x00")] = true
	if len(s.index) == 0 || e.Start < s.first {
		s.first = e.Start
	}
	s.index = append(s.index, entry{task: s.tasks.of(e.Task), candidate: candidate, variant: s.variants.of(cmp.Or(e.Variant, e.Model, "unknown")), trial: int32(e.Trial), size: int32(len(line)), at: s.size, start: e.Start})
	s.size += int64(len(line))
	return nil
}

// order sorts the episodes as the ledger does, and numbers the trials that the source does not.
func (s *spool) order() error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	for i := range s.index {
		if e := &s.index[i]; len(s.sources[e.candidate]) > 1 {
			e.candidate = s.candidates.of(word(s.candidates.list[e.candidate] + "-" + s.variants.list[e.variant]))
		}
	}
	tasks, candidates := ranks(s.tasks.list), ranks(s.candidates.list)
	slices.SortFunc(s.index, func(a, b entry) int {
		return cmp.Or(cmp.Compare(tasks[a.task], tasks[b.task]), cmp.Compare(candidates[a.candidate], candidates[b.candidate]),
			cmp.Compare(a.trial, b.trial), cmp.Compare(a.start, b.start), cmp.Compare(a.at, b.at))
	})
	for i := range s.index {
		e, trial := &s.index[i], int32(1)
		if i > 0 && s.index[i-1].task == e.task && s.index[i-1].candidate == e.candidate {
			trial = s.index[i-1].trial + 1
		}
		e.trial = max(e.trial, trial)
	}
	return nil
}

// ranks are the places of texts in their order.
func ranks(list []string) []int32 {
	order := make([]int32, len(list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(list[a], list[b]) })
	out := make([]int32, len(list))
	for rank, i := range order {
		out[i] = int32(rank)
	}
	return out
}

// each calls f with the episodes in the order of the ledger.
func (s *spool) each(f func(*Episode) error) error {
	var buf []byte
	for _, x := range s.index {
		buf = slices.Grow(buf[:0], int(x.size))[:x.size]
		if _, err := s.file.ReadAt(buf, x.at); err != nil {
			return err
		}
		var e Episode
		if err := json.Unmarshal(buf, &e); err != nil {
			return errors.Join(errors.New("import: the temporary file is damaged"), err)
		}
		e.Task, e.Candidate, e.Trial = s.tasks.list[x.task], s.candidates.list[x.candidate], int(x.trial)
		if err := f(&e); err != nil {
			return err
		}
	}
	return nil
}

// shared is how the cases of candidates that have some in common differ.
type shared struct {
	// more are the cases of a candidate that another one lacks, by the candidate.
	more map[string]int
	// common says of each task whether all comparable candidates have it.
	common []bool
}

// shared finds the cases that all candidates have which have any in common.
func (s *spool) shared() shared {
	of := make([][]int32, len(s.tasks.list)) // candidates of a task, each once and sorted
	for _, x := range s.index {              // in the order of the ledger
		if l := of[x.task]; len(l) == 0 || l[len(l)-1] != x.candidate {
			of[x.task] = append(l, x.candidate)
		}
	}
	group := make([]int32, len(s.candidates.list))
	for i := range group {
		group[i] = int32(i)
	}
	find := func(c int32) int32 {
		for group[c] != c {
			c = group[c]
		}
		return c
	}
	for _, l := range of {
		for _, c := range l {
			group[find(c)] = find(l[0])
		}
	}
	size, seen := map[int32]int{}, map[int32]bool{}
	for _, l := range of {
		for _, c := range l {
			if !seen[c] {
				seen[c] = true
				size[find(c)]++
			}
		}
	}
	out := shared{map[string]int{}, make([]bool, len(of))}
	for task, l := range of {
		if len(l) == 0 {
			continue
		}
		if out.common[task] = len(l) == size[find(l[0])]; !out.common[task] {
			for _, c := range l {
				out.more[s.candidates.list[c]]++
			}
		}
	}
	return out
}

// restrict leaves out the cases that not all comparable candidates have, and returns their number.
func (s *spool) restrict(with shared) (left int) {
	before := len(s.index)
	s.index = slices.DeleteFunc(s.index, func(x entry) bool { return !with.common[x.task] })
	return before - len(s.index)
}
