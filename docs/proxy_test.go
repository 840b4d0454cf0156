//go:build unix

package docs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/providers/sim"
)

// proxy is the network of the pages: an HTTP proxy with a certificate authority of its own,
// in which every provider is a simulated one.
type proxy struct {
	root      string
	server    *httptest.Server
	authority string // file of the certificate that programs must trust
	ca        tls.Certificate
	leaf      *x509.Certificate
	builtin   func() []*playbook.Book // of the built-in suites
}

func newProxy(t *testing.T, root string) *proxy {
	p := &proxy{root: root, authority: filepath.Join(t.TempDir(), "ca.pem")}
	p.builtin = sync.OnceValue(func() []*playbook.Book { return readBooks([]string{root}, "goldens") })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p.leaf = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "docs"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, p.leaf, p.leaf, key.Public(), key)
	require.NoError(t, err)
	p.ca = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	require.NoError(t, os.WriteFile(p.authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

// address is that of the proxy for a page. The user name says which folders' suites the models
// know.
func (p *proxy) address(dirs ...string) string {
	u, _ := url.Parse(p.server.URL)
	u.User = url.User(strings.Join(dirs, string(os.PathListSeparator)))
	return u.String()
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, _, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	handler := p.world(filepath.SplitList(user))
	if r.Method != http.MethodConnect {
		handler.ServeHTTP(w, r)
		return
	}
	host, _, _ := net.SplitHostPort(r.Host)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	server := &http.Server{Handler: handler}
	_ = server.Serve(&once{conn: tls.Server(conn, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.certificate(host) }})})
}

// certificate makes one for a host.
func (p *proxy) certificate(host string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: p.leaf.NotBefore, NotAfter: p.leaf.NotAfter, DNSNames: []string{host}}
	der, err := x509.CreateCertificate(rand.Reader, c, p.leaf, key.Public(), p.ca.PrivateKey)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// once is a listener of one connection.
type once struct{ conn net.Conn }

func (o *once) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	c := o.conn
	o.conn = nil
	return c, nil
}
func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }

// otherModel finds the model of a request: in its body, or in its path.
var (
	otherModel = regexp.MustCompile(`"model":\s*"[^"]*"`)
	modelPath  = regexp.MustCompile(`/models/[^/:]+:`)
	version    = regexp.MustCompile(`^.*?(/v1|/v1beta|/v2)/`)
)

// world answers the requests of a page whose suites are in folders.
func (p *proxy) world(dirs []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/cupel-eval/cupel/main/"); ok && r.Host == "raw.githubusercontent.com" {
			text, err := os.ReadFile(filepath.Join(p.root, filepath.Clean("/"+path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(text)
			return
		}
		models := sim.Handler(sim.Config{Seed: 1, Books: slices.Concat(p.builtin(), readBooks(dirs, "suites"))})
		body, _ := io.ReadAll(r.Body)
		if m := otherModel.Find(body); m != nil && !bytes.Contains(m, []byte(`"sim-`)) {
			body = bytes.Replace(body, m, []byte(`"model":"sim-strong"`), 1)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.URL.Path = modelPath.ReplaceAllString(version.ReplaceAllString(r.URL.Path, "$1/"), "/models/sim-strong:")
		models.ServeHTTP(w, r)
	})
}

// readBooks reads the playbooks of the suites in subfolders of folders.
func readBooks(dirs []string, sub string) (books []*playbook.Book) {
	kinds := counts.Worlds()
	maps.Copy(kinds, research.Worlds())
	for _, dir := range dirs {
		files, _ := filepath.Glob(filepath.Join(dir, sub, "*", playbook.File))
		for _, file := range files {
			suite, err := load.Suite(os.DirFS(filepath.Dir(file)), filepath.Dir(file), kinds)
			if err != nil {
				continue // the page's commands say what is wrong with it
			}
			if b, err := load.Playbook(suite); err == nil && b != nil {
				books = append(books, b)
			}
		}
	}
	return books
}
