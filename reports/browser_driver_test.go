//go:build unix

package reports

import (
	"encoding/json"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit/browser"
)

// tab is a page in a browser, with the short names of these tests.
type tab struct {
	*browser.Tab
	t *testing.T
}

type obj = browser.Obj

const faint, overhang = browser.Faint, browser.Overhang

func startBrowser(t *testing.T) *tab { return &tab{browser.Start(t).NewTab(""), t} }

func (p *tab) fresh(t *testing.T) *tab { return &tab{p.Fresh(t), t} }

func eval[T any](p *tab, format string, args ...any) T {
	p.t.Helper()
	return browser.Eval[T](p.Tab, format, args...)
}

func (p *tab) do(method string, params obj) json.RawMessage {
	p.t.Helper()
	return p.Do(method, params)
}

func (p *tab) open(path, fragment string) { p.t.Helper(); p.Open(path, fragment) }

func (p *tab) visit(address string) { p.t.Helper(); p.Visit(address) }

func (p *tab) until(format string, args ...any) { p.t.Helper(); p.Until(format, args...) }

func (p *tab) click(selector string) { p.t.Helper(); p.Click(selector) }

func (p *tab) press(keys ...string) { p.t.Helper(); p.Press(keys...) }

func (p *tab) write(text string) { p.t.Helper(); p.Write(text) }

func (p *tab) pick(selector, value string) { p.t.Helper(); p.Pick(selector, value) }

func (p *tab) media(medium, scheme string) { p.t.Helper(); p.Media(medium, scheme) }

func (p *tab) phone() { p.t.Helper(); p.Phone() }
