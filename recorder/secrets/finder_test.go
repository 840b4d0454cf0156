package secrets

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// encoder encodes a text with other text before and after it.
type encoder struct {
	name string
	wrap func(before, s, after string) string
}

func (e encoder) spaced() bool {
	return strings.HasPrefix(e.name, "spaced") || e.name == "one zero width"
}

var encoders = []encoder{
	{"raw", func(a, s, b string) string { return a + s + b }},
	{"base64", func(a, s, b string) string { return base64.StdEncoding.EncodeToString([]byte(a + s + b)) }},
	{"base64 url", func(a, s, b string) string { return base64.URLEncoding.EncodeToString([]byte(a + s + b)) }},
	{"base64 raw url", func(a, s, b string) string { return base64.RawURLEncoding.EncodeToString([]byte(a + s + b)) }},
	{"base64 in lines", func(a, s, b string) string {
		code := base64.StdEncoding.EncodeToString([]byte(a + s + b))
		return code[:len(code)/2] + "\r\n" + code[len(code)/2:]
	}},
	{"base64 twice", func(a, s, b string) string {
		return " " + base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s)))) + " "
	}},
	{"hex", func(a, s, b string) string { return hex.EncodeToString([]byte(s)) }},
	{"HEX", func(a, s, b string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"query", func(a, s, b string) string { return url.QueryEscape(a + s + b) }},
	{"path", func(a, s, b string) string { return url.PathEscape(a + s + b) }},
	{"percent in small letters", func(a, s, b string) string { return "?q=" + lowerHex(url.QueryEscape(s)) }},
	{"percent everywhere", func(a, s, b string) string { return a + everyByte("%%%02x", s) + b }},
	{"percent twice", func(a, s, b string) string { return url.QueryEscape(everyByte("%%%02X", s)) }},
	{"json escapes", func(a, s, b string) string { return a + everyByte(`\u00%02x`, s) + b }},
	{"JSON escapes", func(a, s, b string) string { return a + everyByte(`\u00%02X`, s) + b }},
	{"C escapes", func(a, s, b string) string { return a + everyByte(`\x%02x`, s) + b }},
	{"json slashes", func(a, s, b string) string { return strings.ReplaceAll(quote(a+s+b), "/", `\/`) }},
	{"html", func(a, s, b string) string { return html.EscapeString(s) }},
	{"html escapes", func(a, s, b string) string { return everyByte("&#%d;", s) }},
	{"upper case", func(a, s, b string) string { return a + strings.ToUpper(s) + b }},
	{"lower case", func(a, s, b string) string { return a + strings.ToLower(s) + b }},
	{"mixed case", func(a, s, b string) string { return a + mixedCase(s) + b }},
	{"base32", func(a, s, b string) string { return base32.StdEncoding.EncodeToString([]byte(a + s + b)) }},
	{"base32 raw, small", func(a, s, b string) string {
		return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(a + s + b)))
	}},
	{"base32 hex", func(a, s, b string) string { return base32.HexEncoding.EncodeToString([]byte(a + s + b)) }},
	{"base32 hex raw", func(a, s, b string) string {
		return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(a + s + b))
	}},
	{"base32 in lines", func(a, s, b string) string {
		code := base32.StdEncoding.EncodeToString([]byte(a + s + b))
		return code[:len(code)/2] + "\r\n" + code[len(code)/2:]
	}},
	{"spaced by blanks", spaced(" ")},
	{"spaced by dots", spaced(".")},
	{"spaced by dashes", spaced(" - ")},
	{"spaced by zero width", spaced("\u200b")},
	{"spaced by line breaks", spaced("\r\n")},
	{"spaced, in upper case", func(a, s, b string) string { return spaced(" ")(a, strings.ToUpper(s), b) }},
	{"one zero width", func(a, s, b string) string { return a + s[:len(s)/2] + "\u200b" + s[len(s)/2:] + b }},
	{"pieces in lines", func(a, s, b string) string { return a + s[:4] + "\r\n  " + s[4:] + b }},
}

// spaced puts a separator between all letters.
func spaced(by string) func(before, s, after string) string {
	return func(a, s, b string) string { return a + strings.Join(strings.Split(s, ""), by) + b }
}

func mixedCase(s string) string {
	b := []byte(strings.ToLower(s))
	for i := 0; i < len(b); i += 2 {
		copy(b[i:], strings.ToUpper(string(b[i:i+1])))
	}
	return string(b)
}

// withLetters returns a secret with enough letters and digits to be found with separators.
func withLetters(secret string) bool { return len(squeeze(nil, secret)) >= minSecret }

func everyByte(form, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, form, s[i])
	}
	return b.String()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// lowerHex writes the digits of percent escapes in lower case.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(string(b[i:i+3])))
		}
	}
	return string(b)
}

func noise(rng *rand.Rand, n int) string {
	b := make([]byte, rng.Intn(n))
	for i := range b {
		b[i] = byte(' ' + rng.Intn(95))
	}
	return strings.TrimRight(string(b), `\`) // it would change the meaning of a following escape
}

// Random secrets in random layers of encodings are found and redacted, whatever their
// surroundings and alignment.
func TestSecretsAreFoundInAnyEncoding(t *testing.T) {
	for _, e := range encoders {
		t.Run(e.name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(7))
			for range testkit.Long(testkit.SlowN(20, 60), 500) {
				secret := ""
				for len(strings.Join(strings.Fields(secret), "")) < minSecret || e.spaced() && !withLetters(secret) {
					secret = noise(rng, 40)
				}
				if e.name == "pieces in lines" {
					secret = strings.Join(strings.Fields(secret), "") // its spaces would be lost
				}
				text := e.wrap(noise(rng, 9), secret, noise(rng, 9))
				for range rng.Intn(3) {
					text = quote(noise(rng, 9) + text + noise(rng, 9))
				}
				s := New(secret)
				require.Equal(t, configured, s.Find(text), "%q in %q", secret, text)
				clean := s.Redact("f", text)
				require.Empty(t, s.Find(clean), "%q in %q", secret, clean)
				require.Contains(t, clean, Hidden)
				require.Equal(t, []Redaction{{"f", configured, 1}}, s.Redactions())
			}
		})
	}
}

// FuzzSecretIsFound searches for a secret in any encoding and surroundings, and for another one
// that is absent.
func FuzzSecretIsFound(f *testing.F) {
	f.Add("pa55/w0rd+\"qu\\ote\"", "before ", " after", uint8(3))
	f.Add("canary-0123456789", "%", "4", uint8(8))
	f.Add("ends in \\", "\\", "\"", uint8(13))
	f.Fuzz(func(t *testing.T, secret, before, after string, kind uint8) {
		secret = strings.Map(func(r rune) rune { return '!' + r%('~'-'!'+1) }, strings.ToValidUTF8(secret, "")) // as allowed in a header
		if len(secret) < minSecret || len(secret)+len(before)+len(after) > 4<<10 {
			t.Skip()
		}
		before, after = strings.TrimRight(before, `\`), strings.TrimRight(after, `\`)
		e := encoders[int(kind)%len(encoders)]
		if e.spaced() && !withLetters(secret) {
			t.Skip()
		}
		text := e.wrap(before, secret, after)
		s := New(secret)
		require.NotEmpty(t, s.Find(text), "%s: %q in %q", e.name, secret, text)
		clean := s.Redact("f", text)
		if !strings.Contains(Hidden, secret) {
			require.Empty(t, s.Find(clean), "%s: %q in %q", e.name, secret, clean)
		}
		const other = "vK7#q2!Zt9@pW4$x"
		if !strings.Contains(text, other[:4]) {
			require.NotEqual(t, configured, New(other).Find(text), text)
		}
	})
}

// Find returns nothing for random text.
func TestPlainTextIsNotASecret(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	s := New("canary-0123456789", "another+one/to\\find")
	for range 200 {
		text := noise(rng, 4000)
		require.Empty(t, s.Find(text), text)
		binary := make([]byte, rng.Intn(4000))
		rng.Read(binary)
		require.Empty(t, s.Find(base64.StdEncoding.EncodeToString(binary)))
		require.Empty(t, s.Find(base64.RawURLEncoding.EncodeToString(binary)))
		require.Empty(t, s.Find(base32.StdEncoding.EncodeToString(binary)))
		require.Empty(t, s.Find(string(binary)))
	}
}

func TestRedact(t *testing.T) {
	s := New("canary-0123456789", "short")
	for text, want := range map[string]string{
		"nothing here, short":                                                   "nothing here, short",
		"it is canary-0123456789.":                                              "it is [secret].",
		"canary-0123456789canary-0123456789":                                    "[secret][secret]",
		"b: Y2FuYXJ5LTAxMjM0NTY3ODk= is it":                                     "b: [secret] is it",
		`one` + "\n" + `\u0063anary-0123456789` + "\ntwo":                       "one\n[secret]\ntwo",
		"a canary-\n0123456789 b":                                               "a [secret] b",
		"it is CANARY-0123456789.":                                              "it is [secret].",
		"it is c a n a r y - 0 1 2 3 4 5 6 7 8 9.":                              "it is [secret].",
		"32: MNQW4YLSPEWTAMJSGM2DKNRXHA4Q==== is it":                            "32: [secret] is it",
		"c.a.n.a.r.y\n0\u200b1\u200b2\u200b3\n456789 and more\n":                "[secret] and more\n",
		"key sk-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm, key":                                "key [secret], key",
		"-----BEGIN PRIVATE KEY-----\nMIIE\nx\n-----END PRIVATE KEY-----\nrest": "[secret]\nrest",
	} {
		require.Equal(t, want, s.Redact("f", text))
	}
	require.Equal(t, []Redaction{
		{"f", configured, 9}, {"f", "a private key (PEM)", 1}, {"f", "an API key (sk-…)", 1},
	}, s.Redactions())
	var none *Finder
	require.Equal(t, "key [secret]", none.Redact("f", "key sk-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm"))
	require.Empty(t, none.Redactions())
}

// Redact does not search Hidden, in one call or several, and removes overlapping credentials
// completely.
func TestRedactDoesNotSearchHidden(t *testing.T) {
	for name, c := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"part of the word":      {[]string{"[secret]", "a-secret", "secret]x"}, "a-secret]x", "[secret]"},
		"the word completes it": {[]string{"canary-0123456789", "mysecret1"}, "my canary-0123456789 1", "my [secret] 1"},
		"the longest":           {[]string{"canary-01", "canary-0123456789"}, "it is canary-0123456789, canary-01", "it is [secret], [secret]"},
		"they overlap":          {[]string{"abcd-efgh", "efgh-ijkl"}, "x abcd-efgh-ijkl y", "x [secret] y"},
		"a look and a key":      {[]string{"zz sk-Zx81bGq0"}, "zz sk-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm.", "[secret]."},
		"one letter":            {[]string{"k", "e", "]", "["}, "mock-model [key]", "mock-model [key]"},
		"seven letters":         {[]string{"ollama1", "EMPTY"}, "EMPTY ollama1", "EMPTY ollama1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(c.secrets...)
			clean := s.Redact("f", c.text)
			require.Equal(t, c.want, clean)
			require.Equal(t, clean, s.Redact("f", clean), "again")
			require.Empty(t, s.Find(clean))
		})
	}
}

func TestAddDuringFind(t *testing.T) {
	s, each := New(), testkit.SlowN(20, 50)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range each {
				v := fmt.Sprintf("canary-%d-%d", i, k)
				s.Add(v)
				if s.Find("x"+v) == "" {
					t.Errorf("%s is not known", v)
				}
				s.Redact("f", v)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []Redaction{{"f", configured, 8 * each}}, s.Redactions())
}

func TestBase64Forms(t *testing.T) {
	// "secret:1" after 0, 1 and 2 other bytes, from `printf 'xsecret:1' | base64` and so on,
	// without the letters that depend on the neighbours.
	require.Equal(t, []string{"c2VjcmV0OjE"[:10], "c2VjcmV0OjE"[:10]}, base64Forms("secret:1")[:2])
	require.Contains(t, base64.StdEncoding.EncodeToString([]byte("xsecret:1")), base64Forms("secret:1")[2])
	require.Contains(t, base64.StdEncoding.EncodeToString([]byte("xysecret:1")), base64Forms("secret:1")[4])
	for _, form := range base64Forms("secret:1") {
		require.GreaterOrEqual(t, len(form), 9, "too short to be sure of")
	}
}

func TestBase32Forms(t *testing.T) {
	for _, of := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
		for shift := range 10 {
			code, found := of.EncodeToString([]byte("0123456789"[:shift]+"secret:1xyz")), 0
			for _, form := range base32Forms("secret:1") {
				require.GreaterOrEqual(t, len(form), 12, "too short to be sure of")
				if strings.Contains(code, form) {
					found++
				}
			}
			require.Equal(t, 1, found, "%d before it in %s", shift, code)
		}
	}
}

// Patterns are also found in base32.
func TestPatternsAreFoundInBase32(t *testing.T) {
	const text = `{"a": "sk-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm"}`
	for name, code := range map[string]string{
		"base64":      base64.StdEncoding.EncodeToString([]byte(text)),
		"base64 url":  base64.RawURLEncoding.EncodeToString([]byte(text)),
		"base32":      base32.StdEncoding.EncodeToString([]byte(text)),
		"base32 hex":  base32.HexEncoding.EncodeToString([]byte(text)),
		"small":       strings.ToLower(base32.StdEncoding.EncodeToString([]byte(text))),
		"small hex":   strings.ToLower(base32.HexEncoding.EncodeToString([]byte(text))),
		"not a whole": base32.StdEncoding.EncodeToString([]byte(text))[:60],
	} {
		require.Equal(t, "an API key (sk-…)", New().Find("x "+code+" y"), name)
		require.Equal(t, Hidden, New().Redact("f", "x "+code+" y"), name)
	}
}

// TestCodedRunsAreAllRuns compares with a simple search.
func TestCodedRunsAreAllRuns(t *testing.T) {
	rng := rand.New(rand.NewSource(9))
	for range 2000 {
		var want []string
		text := ""
		for range rng.Intn(6) {
			run := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("ab~ ", rng.Intn(12))))
			text += run + strings.Repeat(" ", 1+rng.Intn(20))
			if len(run) >= minRun {
				plain, err := base64.RawStdEncoding.DecodeString(run)
				require.NoError(t, err)
				want = append(want, string(plain))
			}
		}
		var got []string
		codedRuns(text, func(plain string) bool {
			got = append(got, plain)
			return true
		})
		require.Equal(t, want, got, "%q", text)
	}
}

func TestUnescaping(t *testing.T) {
	jsonCases := map[string]string{
		`a`: "a", `\`: `\`, `\n\t\r\b\f`: "\n\t\r\b\f", `\"\\\/`: `"\/`, `\u0041b`: "Ab", `\u00`: "u00", `\uzzzz`: "uzzzz", `\q`: "q",
		`\x41b`: "Ab", `\x4`: "x4", `\ud83d\ude00!`: "😀!", `\ud83d`: "\uFFFD",
	}
	for in, want := range jsonCases {
		require.Equal(t, want, unescapeJSON(in), in)
	}
	percentCases := map[string]string{"a": "a", "%41%2f": "A/", "%": "%", "%4": "%4", "%zz": "%zz", "100%25": "100%"}
	for in, want := range percentCases {
		require.Equal(t, want, unescapePercent(in), in)
	}
}

// TestFinderAgreesWithIndex compares with a simple search.
func TestFinderAgreesWithIndex(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abc"[rng.Intn(3)]
		}
		return string(b)
	}
	for n := range 4000 {
		var words []string
		for range rng.Intn(5) {
			words = append(words, text(2+rng.Intn(6)))
		}
		s, anyCase := text(rng.Intn(40)), n%2 == 1
		want, longest := -1, ""
		for _, w := range words {
			i := strings.Index(s, w)
			if i >= 0 && (want < 0 || i < want) {
				want, longest = i, ""
			}
			if i >= 0 && i == want && len(w) > len(longest) {
				longest = w
			}
		}
		if anyCase {
			s = mixedCase(s)
		}
		at, w := newWordFinder(words, anyCase).find(s, 0)
		require.Equal(t, want, at, "%q in %q", words, s)
		if at >= 0 {
			require.Equal(t, longest, words[w])
		}
	}
}

// TestHostileTextTakesLinearTime searches the texts that take longest.
func TestHostileTextTakesLinearTime(t *testing.T) {
	s := New("canary-0123456789")
	deep := `%25\\\\\\\\+&amp; ` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(`%25\\\\\\\\+&amp; `, 40))) + " "
	for _, unit := range []string{deep, `\\\\u005cu0025`, "sk-", "AIza", "eyJ.", "-----BEGIN PRIVATE KEY-----", "[", `{"a":`, "data:", "data: {}\n", "%", "&#", "earer 1", "canary-0123456789", "c a n a r y 0 1 2 3 4 5 6 7 8 9 ", "Y2FuYXJ5LTAxMjM0NTY3ODk", "MNQW4YLSPEWTAMJSGM2DKNRXHA4Q", Hidden, "ABCDEFGH"} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		start := time.Now()
		s.Redact("f", text)
		streamedTexts(text)
		require.Less(t, time.Since(start), 10*time.Second, "%.40q", unit)
		t.Logf("%v %.30q", time.Since(start), unit)
	}
}
