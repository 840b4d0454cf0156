package viewer

import (
	"bytes"
	"log"
	"net"
	"net/http"
	"strings"
)

// maxRequests is how many requests are answered at a time.
const maxRequests = 32

// ownPolicy is the content security policy of the viewer's own pages, reportPolicy that of
// pages whose content is from a run folder: they have no origin, so that what a foreign
// page contains can neither read the viewer's pages nor send anything anywhere.
const (
	ownPolicy    = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	reportPolicy = "sandbox allow-scripts; default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

// guard refuses what a browser sends on behalf of other sites, and whatever is not a read.
func guard(next http.Handler) http.Handler {
	free := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", ownPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch origin := r.Header.Get("Origin"); {
		case !ownHost(r):
			fail(w, http.StatusForbidden, "This address is not the viewer's own. Open the address that cupel view printed.")
		case origin != "" && origin != "http://"+r.Host:
			fail(w, http.StatusForbidden, "Other sites may not read these pages.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, "These pages can only be read.")
		default:
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
				next.ServeHTTP(w, r)
			default:
				h.Set("Retry-After", "1")
				fail(w, http.StatusServiceUnavailable, "Too many requests at a time. Try again.")
			}
		}
	})
}

// ownHost says that a request names the address it came in on by a loopback name. Another
// name is that of a site that points its name at this machine (DNS rebinding).
func ownHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	ip, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return false
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", ip} {
		own := net.JoinHostPort(name, port)
		if r.Host == own || port == "80" && r.Host == strings.TrimSuffix(own, ":80") {
			return true
		}
	}
	return false
}

// write answers with a content.
func write(w http.ResponseWriter, kind string, content []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // the client is gone
}

const htmlKind = "text/html; charset=utf-8"

// render answers with a page of the viewer's own.
func render(w http.ResponseWriter, status int, name string, v any) {
	var b bytes.Buffer
	if err := parsed().ExecuteTemplate(&b, name, v); err != nil {
		log.Printf("viewer: page %s: %v", name, err)
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", htmlKind)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client is gone
}

// problemView is a page that explains why the requested page cannot be shown.
type problemView struct {
	Title, Text string
	Lines       []string
	Live        bool
}

func fail(w http.ResponseWriter, status int, text string) {
	render(w, status, "problem.html.tmpl", problemView{Title: http.StatusText(status), Text: text})
}
