package toolserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pinned(t testing.TB, tools ...string) Pinned {
	var list []json.RawMessage
	for _, text := range tools {
		list = append(list, json.RawMessage(text))
	}
	p, err := Pin("notes", "1", list)
	require.NoError(t, err)
	return p
}

const (
	add  = `{"name":"add","description":"Adds.","inputSchema":{"type":"object"}}`
	list = `{"name":"list","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
)

// TestPin: the digest depends on what the tools are, not on how or in which order they are
// written.
func TestPin(t *testing.T) {
	p := pinned(t, add, list)
	same := pinned(t, ` {"inputSchema":{"type":"object"}, "annotations":{"readOnlyHint":true},"name":"list"}`, add)
	require.Equal(t, p.Digest, same.Digest)
	require.Empty(t, p.Changes(same))
	for _, tc := range []struct {
		now  Pinned
		want string
	}{
		{pinned(t, add), "removed list"},
		{pinned(t, add, list, `{"name":"drop","inputSchema":{}}`), "added drop"},
		{pinned(t, list, strings.Replace(add, "Adds.", "Adds two.", 1)), `changed add (description: "Adds." → "Adds two.")`},
		{pinned(t, add, strings.Replace(list, `,"annotations":{"readOnlyHint":true}`, "", 1)), `changed list (annotations: {"readOnlyHint":true} → none)`},
		{pinned(t, add, strings.Replace(list, `"name"`, `"title":"L","name"`, 1)), `changed list (title: none → "L")`},
	} {
		require.Equal(t, tc.want, p.Changes(tc.now))
		require.NotEqual(t, p.Digest, tc.now.Digest)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, i))
	}
	require.Regexp(t, "and 90 more$", pinned(t).Changes(pinned(t, many...)))
}

func TestPinRefuses(t *testing.T) {
	for _, tc := range []struct {
		list []json.RawMessage
		want string
	}{
		{[]json.RawMessage{[]byte(`{`)}, "tool 1 of its list: "},
		{[]json.RawMessage{[]byte(`{"name":"a","name":"b"}`)}, "tool 1 of its list: "},
		{[]json.RawMessage{[]byte(`"add"`)}, "tool 1 of its list: "},
		{[]json.RawMessage{[]byte(add), []byte(`{"name":"add"}`)}, "tool 2 of its list needs a name and an inputSchema, an object"},
		{[]json.RawMessage{[]byte(`{"inputSchema":{}}`)}, "tool 1 of its list needs a name and an inputSchema, an object"},
		{[]json.RawMessage{[]byte(add), []byte(add)}, "tool add is in its list twice"},
	} {
		_, err := Pin("s", "1", tc.list)
		require.ErrorContains(t, err, tc.want)
	}
}

func TestLock(t *testing.T) {
	l := Lock{"notes": pinned(t, add, list), "empty": pinned(t)}
	text, err := l.Write()
	require.NoError(t, err)
	again, err := ReadLock(text)
	require.NoError(t, err)
	require.Equal(t, l["notes"].Digest, again["notes"].Digest)
	require.Empty(t, l["notes"].Changes(again["notes"]))
	for name, tc := range map[string]struct{ text, want string }{
		"edited":  {strings.Replace(string(text), "Adds.", "Adds!", 1), "server notes: its tools have the digest sha256:"},
		"garbage": {"<html>", "not a lock of tools: "},
		"other":   {`{"a":{"servers":1}}`, `not a lock of tools: json: unknown field "servers"`},
		"tools":   {`{"a":{"tools":[{}]}}`, "server a: tool 1 of its list needs a name"},
	} {
		_, err := ReadLock([]byte(tc.text))
		require.ErrorContains(t, err, tc.want, name)
	}
}

func TestListing(t *testing.T) {
	require.Equal(t, "#   add (ask): Adds.\n#   list (always): \n", pinned(t, add, list).Listing())
}

// FuzzReadLock: a lock that can be read can be written and read again, and its lists differ
// from others in one line.
func FuzzReadLock(f *testing.F) {
	text, err := Lock{"notes": pinned(f, add, list)}.Write()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"a":{"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ReadLock(text)
		if err != nil {
			return
		}
		again, err := l.Write()
		require.NoError(t, err)
		same, err := ReadLock(again)
		require.NoError(t, err)
		for name, p := range l {
			require.Empty(t, p.Changes(same[name]))
			require.Less(t, len(Pinned{}.Changes(p)), 20_000)
		}
	})
}
