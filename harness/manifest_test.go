package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
)

// The manifest has a digest of each part of a task.
func TestManifestTaskHasItsParts(t *testing.T) {
	task := goldens.Task{ID: "A", Title: "T", Request: "How many?"}
	s := &goldens.Suite{Name: "s", Tasks: []goldens.Task{task}}
	was, parts := drive.ManifestTask(s, task), s.TaskParts(task)
	require.Equal(t, []string{parts.Request, parts.World, parts.Tools, parts.Checks}, []string{was.RequestDigest, was.WorldDigest, was.ToolsDigest, was.ChecksDigest})
	require.NotEqual(t, was.WorldDigest, was.ToolsDigest)

	require.Empty(t, was.Session)
	task.Session = "trip"
	require.Equal(t, "trip", drive.ManifestTask(s, task).Session, "tasks of a session are judged as one cluster")
	task.Session = ""

	task.Expect = []goldens.Expect{{Status: "answered"}}
	is := drive.ManifestTask(s, task)
	require.NotEqual(t, was.Digest, is.Digest)
	require.NotEqual(t, was.ChecksDigest, is.ChecksDigest)
	require.Equal(t, was.WorldDigest, is.WorldDigest)
	require.Equal(t, was.RequestDigest, is.RequestDigest)
	require.Equal(t, was.ToolsDigest, is.ToolsDigest)
}
