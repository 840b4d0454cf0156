package load

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

// tornFile opens and then fails in the middle.
type tornFile struct{ fs.File }

func (tornFile) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type tornFS struct{ fstest.MapFS }

func (f tornFS) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	return tornFile{file}, err
}

func TestLoadTornFile(t *testing.T) {
	_, err := Suite(tornFS{fstest.MapFS{SuiteFile: {Data: []byte("name: x\n")}}}, "", suitetest.Worlds())
	require.EqualError(t, err, "suite.yaml:1: cannot read the file: unexpected EOF")
}

func TestLoadTooMuch(t *testing.T) {
	many := fstest.MapFS{SuiteFile: {Data: []byte("name: demo\ntasks: [t/*.yaml]\n")}}
	for i := range maxTaskFiles + 1 {
		many[fmt.Sprintf("t/%d.yaml", i)] = &fstest.MapFile{}
	}
	_, err := Suite(many, "s", suitetest.Worlds())
	require.EqualError(t, err, `s/suite.yaml:2: tasks[0]: "t/*.yaml" matches 1001 files; at most 1000 are read`)

	var text strings.Builder
	text.WriteString(suitetest.Head + "tasks:\n")
	for i := range maxTasks + 2 {
		fmt.Fprintf(&text, "  - {id: T%d, request: Hi, expect: {status: answered}}\n", i)
	}
	_, err = Suite(suitetest.Folder(text.String()), "s", suitetest.Worlds())
	require.EqualError(t, err, fmt.Sprintf("s/suite.yaml:%d: tasks[%d]: a suite may have at most 10000 tasks", 20+maxTasks, maxTasks))
}

// A pattern that matches suite.yaml does not make that a task file.
func TestLoadNeverReadsItself(t *testing.T) {
	s, err := Suite(suitetest.Folder(strings.Replace(suitetest.Head, "name: demo", "name: demo\ntasks: ['*.yaml']", 1), "a.yaml", "tasks: ["+suitetest.Task+"]\n"), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.Len(t, s.Tasks, 1)
}

func TestBlankZone(t *testing.T) {
	require.Equal(t, []string{"s/suite.yaml:20: tasks[0].world.zone: must not be blank"},
		problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n  - {id: A, request: Hi, world: {from: may, zone: ''}, expect: {status: answered}}\n")))
}
