package recorder

import (
	"encoding/base32"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// onDisk returns the names and contents of all files below dir.
func onDisk(t *testing.T, dir string) (text string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		text += strings.TrimPrefix(path, dir) + "\n"
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			text += string(data) + "\n"
		}
		return nil
	}))
	return text
}

// inOrder answers each request with the next body.
func inOrder(bodies ...string) answer {
	return func(req *http.Request) (*http.Response, error) {
		body := bodies[0]
		if len(bodies) > 1 {
			bodies = bodies[1:]
		}
		return says(body[:len(body)/2], body[len(body)/2:])(req)
	}
}

const key = "canary-0123456789-Zq"

// message is a reply in a provider's format, with the text as the assistant's message.
func message(text string) string {
	return fmt.Sprintf(`{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":%q}}]}`, text)
}

func contractTurn(text string) string {
	return message(fmt.Sprintf(`{"control":{"done":true},"next_action":{"type":"respond","message":%q}}`, text))
}

func TestJournalOfARefusedCassetteHasNoSecret(t *testing.T) {
	half := len(key) / 2
	frames := ""
	for _, c := range key {
		frames += fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", string(c))
	}
	for name, bodies := range map[string][]string{
		"plain":                          {"fine", "it is " + key, "fine, too"},
		"upper case":                     {"it is " + strings.ToUpper(key)},
		"base32":                         {"it is " + base32.StdEncoding.EncodeToString([]byte(key))},
		"spaced out":                     {message("it is " + strings.Join(strings.Split(key, ""), " "))},
		"split over frames":              {frames},
		"split over exchanges":           {"it is " + key[:half], key[half:] + " it was"},
		"split over messages":            {message("it is " + key[:half]), message(key[half:] + " it was")},
		"split over turns":               {contractTurn("it is " + key[:half]), message("no turn"), contractTurn(key[half:])},
		"split over exchanges, spaced":   {message("c a n a r y - 0 1 2 3"), message("4 5 6 7 8 9 - Z q")},
		"split over exchanges, in three": {message(key[:5]), message(key[5:9]), message(key[9:])},
	} {
		for _, when := range []string{"known", "known late", "known after a kill"} {
			t.Run(name+"/"+when, func(t *testing.T) {
				r := newRecording(t, inOrder(bodies...))
				if when == "known" {
					r.o.Secrets.Add(key)
				}
				for range bodies {
					ask(t, r, post(t, "https://api.test/", "{}"))
				}
				pieces := []string{key[half:], strings.ToUpper(key)[half:], "5 6 7 8 9", `"8"`, "GAYTEM"}
				if when != "known" {
					require.Equal(t, len(bodies), mustRecover(t, journalFile(r.o)).Exchanges)
					r.o.Secrets.Add(key)
				}
				if when == "known after a kill" { // another process records again
					o := r.o
					o.Base = says("harmless")
					var err error
					r, err = New(o)
					require.NoError(t, err)
					for _, piece := range pieces {
						require.NotContains(t, onDisk(t, r.o.Dir), piece, "before its first request")
					}
					ask(t, r, post(t, "https://api.test/", "{}"))
					require.NoError(t, r.Save())
				} else {
					r.o.Base = says("harmless")
					ask(t, r, post(t, "https://api.test/", "{}"))
					for _, piece := range pieces {
						require.NotContains(t, onDisk(t, r.o.Dir), piece, "if it was killed now")
					}
					var secret *cassette.SecretError
					require.ErrorAs(t, r.Save(), &secret)
					require.Equal(t, "a configured secret", secret.Kind)
				}
				for _, piece := range pieces {
					require.NotContains(t, onDisk(t, r.o.Dir), piece)
				}
			})
		}
	}
}

func mustRecover(t *testing.T, file string) Recovered {
	t.Helper()
	got, err := Recover(file)
	require.NoError(t, err)
	return got
}

// A renamed journal and the name of the cassette are searched, too.
func TestRenamedJournalHasNoSecret(t *testing.T) {
	r := newRecording(t, says("it is "+key))
	ask(t, r, post(t, "https://api.test/", "{}"))
	second, err := New(r.o)
	require.NoError(t, err)
	second.o.Base = says("fine")
	ask(t, second, post(t, "https://api.test/", "{}"))
	require.Contains(t, onDisk(t, r.o.Dir), "1.yaml.journal.old")
	require.Contains(t, onDisk(t, r.o.Dir), key)
	r.o.Secrets.Add(key)
	ask(t, second, post(t, "https://api.test/", "{}"))
	require.NotContains(t, onDisk(t, r.o.Dir), key)
	require.Equal(t, 2, mustRecover(t, journalFile(second.o)).Exchanges, "what is clean stays")

	named, err := New(Options{Mode: Record, Dir: t.TempDir(), Path: key + ".yaml", Base: says("fine"), Secrets: secrets.New(key)})
	require.NoError(t, err)
	ask(t, named, post(t, "https://api.test/", "{}"))
	require.Error(t, named.Save())
	require.NotContains(t, onDisk(t, named.o.Dir), key)
}

// A scan finds a credential that is split over several exchanges of a cassette.
func TestScanFindsASplitSecret(t *testing.T) {
	r := newRecording(t, inOrder(contractTurn("it is "+key[:9]), contractTurn(key[9:])))
	for range 2 {
		ask(t, r, post(t, "https://api.test/", "{}"))
	}
	require.NoError(t, r.Save())
	o := cassette.File{FS: os.DirFS(r.o.Dir), Path: r.o.Path, Secrets: secrets.New(key)}
	found, err := cassette.FindSecrets(o)
	require.NoError(t, err)
	require.Equal(t, []*cassette.SecretError{{Path: r.o.Path, Interaction: 1, Field: "response.body (with those before it)", Kind: "a configured secret"}}, found)
	o.Secrets = secrets.New("another-0123456789")
	found, err = cassette.FindSecrets(o)
	require.NoError(t, err)
	require.Empty(t, found)
}
