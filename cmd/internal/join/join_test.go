package join

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// tape returns a cassette of an episode. Its model name distinguishes recordings.
func recorded(path, day, model string) *fstest.MapFile {
	parts := strings.Split(strings.TrimSuffix(path, ".yaml"), "/")
	h := cassette.Header{Candidate: parts[0], Task: parts[1], Trial: int(parts[2][0] - '0'), Recorded: day, Model: model}
	if strings.Contains(path, ".fork") {
		h.Fork = "T/a/1@1"
	}
	return &fstest.MapFile{Data: cassette.Encode(&cassette.Data{Header: h, Interactions: exchange()})}
}

// exchange returns an exchange from a recording of the built-in suite.
var exchange = sync.OnceValue(func() []cassette.Interaction {
	d, err := cassette.Load(cassette.File{Dir: filepath.Join("..", "..", "..", "goldens", "counts", "cassettes"), Path: "strong/G01/1.yaml"})
	if err != nil {
		panic(err)
	}
	return d.Interactions[:1]
})

// states returns the states of cassettes by their models' names: stale…, otherwise fresh. The suite
// plans trial 1 of candidates a and b.
func states(files fs.FS) (map[string]cassettes.Status, error) {
	all := map[string]cassettes.Status{}
	for _, path := range []string{"a/T/1.yaml", "a/U/1.yaml", "b/T/1.yaml"} {
		s := cassettes.Status{Path: path, State: cassettes.Fresh}
		c, err := cassette.Inspect(cassette.File{FS: files, Path: path})
		switch {
		case err != nil && strings.Contains(err.Error(), "no cassette"):
			s.State = cassettes.Missing
		case err != nil:
			s.State = cassettes.Corrupt
		case strings.HasPrefix(c.Header.Model, "stale"):
			s.State, s.Why = cassettes.Stale, []string{"prompt changed"}
		}
		all[path] = s
	}
	return all, nil
}

func TestDecide(t *testing.T) {
	const at, other, day, later = "a/T/1.yaml", "b/T/1.yaml", "2026-05-01", "2026-05-02"
	type files = fstest.MapFS
	cut := recorded(at, day, "x")
	cut = &fstest.MapFile{Data: cut.Data[:len(cut.Data)-9]}
	for name, c := range map[string]struct {
		suite   files
		folders []files
		newest  bool
		joined  string // models, in the order of the suite
		same    int
		skipped string
		err     string
	}{
		"none there":             {folders: []files{{at: recorded(at, day, "x")}, {other: recorded(other, day, "y")}}, joined: "x y"},
		"newer":                  {suite: files{at: recorded(at, day, "old")}, folders: []files{{at: recorded(at, later, "x")}}, joined: "x"},
		"older":                  {suite: files{at: recorded(at, later, "old")}, folders: []files{{at: recorded(at, day, "x")}}, joined: "old", skipped: "older: recorded 2026-05-01, and the suite's 2026-05-02"},
		"older, newest":          {suite: files{at: recorded(at, later, "old")}, folders: []files{{at: recorded(at, day, "x")}}, newest: true, joined: "old", skipped: "older"},
		"equal":                  {suite: files{at: recorded(at, day, "x")}, folders: []files{{at: recorded(at, day, "x")}}, joined: "x", same: 1},
		"stale":                  {suite: files{at: recorded(at, day, "old")}, folders: []files{{at: recorded(at, later, "stale")}}, joined: "old", skipped: "stale: prompt changed"},
		"stale, none there":      {folders: []files{{at: recorded(at, later, "stale")}}, skipped: "stale"},
		"for a stale one":        {suite: files{at: recorded(at, later, "stale")}, folders: []files{{at: recorded(at, day, "x")}}, joined: "x"},
		"for a corrupt one":      {suite: files{at: cut}, folders: []files{{at: recorded(at, day, "x")}}, joined: "x"},
		"same day":               {suite: files{at: recorded(at, day, "old")}, folders: []files{{at: recorded(at, day, "x")}}, err: "a/T/1: recorded 2026-05-01 in f0 and on the same day in the suite"},
		"same day, newest":       {suite: files{at: recorded(at, day, "old")}, folders: []files{{at: recorded(at, day, "x")}}, newest: true, joined: "x"},
		"two":                    {folders: []files{{at: recorded(at, day, "x")}, {at: recorded(at, later, "y")}}, err: "a/T/1: recorded 2026-05-02 in f1 and 2026-05-01 in f0"},
		"two, newest":            {folders: []files{{at: recorded(at, day, "x")}, {at: recorded(at, later, "y")}}, newest: true, joined: "y", skipped: "older: recorded 2026-05-01, and that in f1 2026-05-02"},
		"two of a day, newest":   {folders: []files{{at: recorded(at, day, "x")}, {at: recorded(at, day, "y")}}, newest: true, err: "1 episodes have different fresh recordings"},
		"twice the same":         {folders: []files{{at: recorded(at, day, "x")}, {at: recorded(at, day, "x")}}, joined: "x"},
		"old beside new":         {suite: files{at: recorded(at, day, "old"), other: recorded(other, day, "old2")}, folders: []files{{at: recorded(at, later, "x"), other: recorded(other, day, "old2")}, {at: recorded(at, day, "old"), other: recorded(other, later, "y")}}, joined: "x y", same: 2},
		"no episode":             {folders: []files{{"c/T/1.yaml": recorded("c/T/1.yaml", day, "x")}}, skipped: "no episode of the suite uses it"},
		"a fork":                 {folders: []files{{"b.fork-a-1-1/T/1.yaml": recorded("b.fork-a-1-1/T/1.yaml", day, "x")}}, joined: "x"},
		"of another episode":     {folders: []files{{at: recorded(other, day, "x")}}, err: `f0: cassette a/T/1.yaml: its header says that it is "b/T/1.yaml"`},
		"corrupt":                {suite: files{at: recorded(at, day, "old")}, folders: []files{{other: recorded(other, day, "y")}, {at: cut}}, joined: "old", err: "f1: cassette a/T/1.yaml"},
		"a credential":           {folders: []files{{at: recorded(at, day, "sk-proj-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6Vc")}}, err: "holds"},
		"unknown day":            {suite: files{at: recorded(at, "", "old")}, folders: []files{{at: recorded(at, day, "x")}}, joined: "x"},
		"unknown days of others": {suite: files{at: recorded(at, day, "old")}, folders: []files{{at: recorded(at, "", "x")}}, joined: "old", skipped: "recorded on an unknown day"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, c.suite))
			var names []string
			for i, f := range c.folders {
				names = append(names, filepath.Join(t.TempDir(), "f"+string(rune('0'+i))))
				require.NoError(t, os.CopyFS(names[i], f))
			}
			sources, closeAll, err := Open(names)
			require.NoError(t, err)
			defer closeAll()
			for i := range sources {
				sources[i].Name = filepath.Base(sources[i].Name)
			}
			s := Suite{Files: os.DirFS(dir), States: states, Newest: c.newest}
			p, err := s.Decide(sources)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
			} else {
				require.NoError(t, err)
				require.NoError(t, s.Write(p, dir))
				require.Equal(t, c.same, p.Same)
				if c.skipped == "" {
					require.Empty(t, p.Skipped)
				} else {
					require.Len(t, p.Skipped, 1)
					require.Contains(t, p.Skipped[0].Why, c.skipped)
				}
				require.Equal(t, c.joined, models(t, os.DirFS(dir)))
			}
		})
	}
}

// models returns the models of the cassettes in a folder, which must contain no other files.
func models(t *testing.T, files fs.FS) string {
	var all []string
	require.NoError(t, fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		c, err := cassette.Inspect(cassette.File{FS: files, Path: path})
		if err == nil {
			all = append(all, c.Header.Model)
		}
		return err
	}))
	return strings.Join(all, " ")
}

// If a suite has a pack and no folder of cassettes, join unpacks it to a new folder.
func TestWriteUnpacks(t *testing.T) {
	from, dir := t.TempDir(), filepath.Join(t.TempDir(), "cassettes")
	require.NoError(t, os.CopyFS(from, fstest.MapFS{"a/T/1.yaml": recorded("a/T/1.yaml", "2026-05-01", "old"), "a/U/1.yaml": recorded("a/U/1.yaml", "2026-05-01", "kept")}))
	file := filepath.Join(t.TempDir(), "cassettes.pack")
	_, err := cassette.WritePack(file, os.DirFS(from))
	require.NoError(t, err)
	newer := filepath.Join(t.TempDir(), "newer.pack")
	require.NoError(t, os.CopyFS(filepath.Dir(newer), fstest.MapFS{"a/T/1.yaml": recorded("a/T/1.yaml", "2026-05-02", "new")}))
	_, err = cassette.WritePack(newer, os.DirFS(filepath.Dir(newer)))
	require.NoError(t, err)
	sources, closeAll, err := Open([]string{newer, file})
	require.NoError(t, err)
	defer closeAll()
	s := Suite{Files: sources[1].Files, States: states}
	p, err := s.Decide(sources[:1])
	require.NoError(t, err)
	require.NoError(t, s.Write(p, dir))
	require.Equal(t, "new kept", models(t, os.DirFS(dir)))
}

// An error before the first cassette is replaced changes nothing.
func TestWriteAllOrNothing(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(from, fstest.MapFS{"a/T/1.yaml": recorded("a/T/1.yaml", "2026-05-02", "new"), "b/T/1.yaml": recorded("b/T/1.yaml", "2026-05-02", "new")}))
	require.NoError(t, os.CopyFS(dir, fstest.MapFS{"a/T/1.yaml": recorded("a/T/1.yaml", "2026-05-01", "old")}))
	sources, closeAll, err := Open([]string{from})
	require.NoError(t, err)
	defer closeAll()
	s := Suite{Files: os.DirFS(dir), States: states}
	p, err := s.Decide(sources)
	require.NoError(t, err)
	require.Equal(t, 2, p.Joined())
	changed := filepath.Join(from, "b", "T", "1.yaml")
	require.NoError(t, os.WriteFile(changed, recorded("b/T/1.yaml", "2026-05-02", "other").Data, 0o644))
	require.ErrorContains(t, s.Write(p, dir), "b/T/1.yaml in "+from+" changed meanwhile")
	require.Equal(t, "old", models(t, os.DirFS(dir)))
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, fstest.MapFS{"suite/cassettes/a/T/1.yaml": recorded("a/T/1.yaml", "", ""), "text": {Data: []byte("no pack")}}))
	for name, want := range map[string]string{
		dir:                         "name the folder that contains the candidates' folders",
		filepath.Join(dir, "none"):  "no such file",
		filepath.Join(dir, "text"):  "not a pack",
		filepath.Join(dir, "suite"): "name the folder",
	} {
		_, closeAll, err := Open([]string{name})
		closeAll()
		require.ErrorContains(t, err, want, name)
	}
}
