// Package web is the fixed web of a simulated automation instance: pages that are searched
// and read, and nothing else. What a page says is untrusted data: what a reader does not see of it
// is taken out, and the rest is fenced.
package web

import (
	"cmp"
	"fmt"
	"html"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The bounds of what tools ask for.
const (
	DefaultResults = 5
	MaxResults     = 20
	DefaultContent = 30_000 // characters
	MaxContent     = 100_000
	maxRedirects   = 5
)

// Page is one page.
type Page struct {
	URL       string `json:"url"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	Published string `json:"published"`
	// Redirect is the URL that answers instead; empty for none.
	Redirect string `json:"redirect"`
	// Status is that of HTTP; 0 means 200.
	Status int `json:"status"`
}

// Error is a refusal: Code is one such as E_NOT_FOUND, Message says to a model what is wrong.
type Error struct{ Code, Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(code, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Result is one page that a search found.
type Result struct {
	PublishedDate string `json:"publishedDate,omitempty"`
	Snippet       string `json:"snippet"`
	Title         string `json:"title"`
	URL           string `json:"url"`
}

// Site is a web: its pages by URL. It is safe for concurrent use once it is made.
type Site struct {
	pages []Page
	byURL map[string]int
}

// New returns a web of these pages. Later pages replace earlier ones of the same URL.
func New(pages []Page) *Site {
	s := &Site{pages: pages, byURL: map[string]int{}}
	for i, p := range pages {
		s.byURL[normal(p.URL)] = i
	}
	return s
}

// normal writes a URL without what does not tell pages apart.
func normal(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.Fragment, u.Host, u.Scheme = "", strings.ToLower(u.Host), "https"
	return strings.TrimSuffix(u.String(), "/")
}

// Check reports why a URL may not be read: its scheme, or an address that is not public.
// Its error is an *Error.
func Check(text string) (host string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" && u.Opaque == "" {
		return "", refuse("E_BAD_URL", "%q is not the URL of a web page", clip.Runes(text, 100))
	}
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", refuse("E_BAD_URL", "only pages of http and https can be read, not %q", clip.Runes(u.Scheme, 20))
	case u.User != nil:
		return "", refuse("E_BAD_URL", "a URL with a user name or password is not read")
	case private(host):
		return "", refuse("E_PRIVATE_ADDRESS", "%s is not a public address, so it is not read", clip.Runes(host, 100))
	}
	return host, nil
}

// privateNames are the ends of names that no public server has.
var privateNames = []string{"localhost", "local", "internal", "home.arpa", "lan"}

// numeric matches hosts that some programs read as the number of an address.
var numeric = lazyregexp.New(`^(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}$`)

// private reports a host that is not, or might not be, a public one.
func private(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() || netip.MustParsePrefix("100.64.0.0/10").Contains(addr) || addr.As4()[0] == 0
	}
	return numeric.MatchString(host) || !strings.Contains(host, ".") || slices.ContainsFunc(privateNames, func(name string) bool { return strings.HasSuffix(host, "."+name) })
}

// Search returns the pages that have most words of a query in title and text, at most so
// many; ties are in the order of the pages. domains restrict it to hosts and those beneath
// them.
func (s *Site) Search(query string, most int, domains []string) []Result {
	words := fields(query)
	type hit struct{ page, score int }
	var hits []hit
	for i, p := range s.pages {
		host, err := Check(p.URL)
		if err != nil || p.Redirect != "" || p.Status >= 400 || !within(host, domains) {
			continue
		}
		title, text, score := fields(p.Title), fields(Visible(p.Content)), 0
		for _, w := range words {
			if slices.Contains(title, w) {
				score += 3
			}
			if slices.Contains(text, w) {
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := []Result{}
	for _, h := range hits[:min(len(hits), most)] {
		p := s.pages[h.page]
		out = append(out, Result{p.Published, Fence(snippet(Visible(p.Content), words)), clip.Runes(Visible(p.Title), 200), p.URL})
	}
	return out
}

// within reports whether a host is one of the domains, or beneath one; it is if there are none.
func within(host string, domains []string) bool {
	return len(domains) == 0 || slices.ContainsFunc(domains, func(d string) bool {
		d = strings.ToLower(strings.TrimPrefix(d, "."))
		return host == d || strings.HasSuffix(host, "."+d)
	})
}

// fields are the words of a text, in lower case.
func fields(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// snippet is the text around the first of the words, on one line.
func snippet(text string, words []string) string {
	text = strings.Join(strings.Fields(text), " ")
	at := -1
	for _, w := range words {
		if i := strings.Index(strings.ToLower(text), w); i >= 0 && i <= len(text) && (at < 0 || i < at) {
			at = i
		}
	}
	if at > 60 {
		text = "…" + strings.TrimLeftFunc(text[at-60:], func(r rune) bool { return r == utf8.RuneError })
	}
	return clip.Runes(text, 240)
}

// Fetched is a page as a tool returns it.
type Fetched struct {
	Content       string   `json:"content"`
	ContentLength int      `json:"contentLength"`
	FinalURL      string   `json:"finalUrl"`
	SafetyFlags   []string `json:"safetyFlags,omitempty"`
	Title         string   `json:"title"`
	Truncated     bool     `json:"truncated"`
	URL           string   `json:"url"`
}

// Fetch reads a page, at most so many characters of it. injected is text that a fault adds
// to it. The error is an *Error.
func (s *Site) Fetch(address string, most int, injected string) (Fetched, error) {
	host, err := Check(address)
	if err != nil {
		return Fetched{}, err
	}
	final := address
	for range maxRedirects + 1 {
		i, ok := s.byURL[normal(final)]
		switch {
		case !ok:
			return Fetched{}, refuse("E_NOT_FOUND", "HTTP 404: there is no page %s", clip.Runes(final, 200))
		case s.pages[i].Status >= 400:
			return Fetched{}, refuse("E_HTTP", "HTTP %d: %s cannot be read", s.pages[i].Status, clip.Runes(final, 200))
		case s.pages[i].Redirect == "":
			return fetched(address, final, s.pages[i], most, injected), nil
		}
		next := s.pages[i].Redirect
		switch to, err := Check(next); {
		case err != nil:
			return Fetched{}, err
		case to != host:
			return Fetched{}, refuse("E_REDIRECT", "%s redirects to another host, %s; fetch that URL if it is wanted", clip.Runes(final, 200), clip.Runes(next, 200))
		}
		final = next
	}
	return Fetched{}, refuse("E_REDIRECT", "%s redirects more than %d times", clip.Runes(address, 200), maxRedirects)
}

func fetched(address, final string, p Page, most int, injected string) Fetched {
	text := p.Content
	if injected != "" {
		text += "\n\n" + injected
	}
	out := Fetched{FinalURL: final, URL: address, Title: clip.Runes(Visible(p.Title), 200)}
	if strings.Contains(text, "<!--") {
		out.SafetyFlags = append(out.SafetyFlags, "comments_removed")
	}
	if strings.ContainsFunc(text, hidden) {
		out.SafetyFlags = append(out.SafetyFlags, "invisible_characters_removed")
	}
	text = Visible(text)
	out.ContentLength = utf8.RuneCountInString(text)
	if out.Truncated = out.ContentLength > most; out.Truncated {
		text = clip.FirstRunes(text, most)
	}
	out.Content = Fence(text)
	return out
}

var (
	unseen = lazyregexp.New(`(?is)<!--.*?(-->|$)|<script\b.*?(</script\s*>|$)|<style\b.*?(</style\s*>|$)`)
	tags   = lazyregexp.New(`(?s)</?[A-Za-z][^<>]*>`)
)

// hidden reports characters that draw nothing, besides line breaks and tabs.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && r != '\r' && r != ' ' && (invisible.Rune(r) || unicode.IsControl(r))
}

// Visible returns what people see of a page: no comments, scripts and invisible characters.
// A page that begins with a tag is HTML, of which only the text stays.
func Visible(text string) string {
	text = unseen.ReplaceAllString(text, "")
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = html.UnescapeString(tags.ReplaceAllString(text, ""))
	}
	text = strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// The fence around what a stranger wrote.
const open, end = "<untrusted_data>\n", "\n</untrusted_data>"

// marker matches what could be taken for the fence.
var marker = lazyregexp.New(`(?i)<(\s*/?\s*untrusted_data)`)

// Fence marks a text as data: nothing in it can end the fence.
func Fence(text string) string { return open + marker.ReplaceAllString(text, "&lt;$1") + end }
