package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// Decode reads a cassette file. Its errors describe the problem without the path.
func Decode(data []byte, allowUnsealed bool) (*Data, error) {
	content, digest, broken := checksum.Check(data)
	if broken != nil && (!allowUnsealed || !errors.Is(broken, checksum.ErrNone)) {
		return nil, broken
	}
	t, ok := DecodeContent(string(content))
	if !ok {
		var err error
		if t, err = readYAML(content, broken == nil); err != nil {
			return nil, err
		}
	} else if broken != nil {
		return nil, broken // a cupel header without a checksum: the file was cut
	}
	t.Digest = digest
	return t, t.Check()
}

// yamlFile is a go-vcr cassette of format version 1 or 2 with cupel's additions. The
// additions of version 2 are not needed and not read.
type yamlFile struct {
	Version int `yaml:"version"`
	Cupel   *struct {
		Format int `yaml:"format"`
		Header `yaml:",inline"`
	} `yaml:"cupel"`
	Interactions []yamlInteraction `yaml:"interactions"`
	Seal         string            `yaml:"seal"`
}

type yamlInteraction struct {
	govcr.Interaction `yaml:",inline"`
	Cupel             *yamlExtra `yaml:"cupel"`
}

type yamlExtra struct {
	Digest      string     `yaml:"digest"`
	FirstByte   int64      `yaml:"first_byte"`
	Frames      [][2]int64 `yaml:"frames"`
	ClosedEarly bool       `yaml:"closed_early"`
	Failed      string     `yaml:"failed"`
	TimedOut    bool       `yaml:"timed_out"`
	Role        string     `yaml:"role"`
}

// readYAML reads any cassette, as go-vcr would: several times slower than
// readLayout. A file that is not sealed must be another tool's.
func readYAML(content []byte, sealed bool) (*Data, error) {
	var f yamlFile
	if err := decodeYAML(content, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Version == 0:
		return nil, errors.New("not a cassette: it has no format version")
	case f.Version != 1 && f.Version != 2:
		return nil, fmt.Errorf("unknown format version %d: 1 and 2 are read", f.Version)
	case f.Cupel != nil && !sealed, f.Seal != "":
		return nil, checksum.ErrBroken
	case f.Cupel != nil && f.Cupel.Format != 1:
		return nil, fmt.Errorf("unknown cupel format %d: 1 is read", f.Cupel.Format)
	}
	t := &Data{Interactions: make([]Interaction, len(f.Interactions))}
	if f.Cupel != nil {
		t.Header = f.Cupel.Header
	}
	for i, y := range f.Interactions {
		it := &t.Interactions[i]
		it.Request, it.Response = y.Request, y.Response
		if f.Cupel == nil || y.Cupel == nil {
			it.adopt()
			continue
		}
		it.extend(y.Cupel)
	}
	return t, nil
}

func (it *Interaction) extend(y *yamlExtra) {
	it.Digest, it.ClosedEarly, it.Failure, it.TimedOut, it.Role = y.Digest, y.ClosedEarly, y.Failed, y.TimedOut, y.Role
	it.Response.Headers = canonical.KeptHeaders(it.Response.Headers)
	it.FirstByte = time.Duration(y.FirstByte) * time.Microsecond
	for _, f := range y.Frames {
		it.Reads = append(it.Reads, BodyRead{int(f[0]), f[1]})
	}
}

// decodeYAML reads one document without aliases, because with them a small file can expand
// to a huge one.
func decodeYAML(content []byte, into any) error {
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(content))
	if err := d.Decode(&root); errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	} else if err != nil {
		return fmt.Errorf("not YAML: %w", err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return errors.New("not a cassette: more than one YAML document")
	}
	if line := aliasLine(&root); line > 0 {
		return fmt.Errorf("line %d: YAML anchors and aliases are refused", line)
	}
	if err := root.Decode(into); err != nil {
		return fmt.Errorf("not a cassette: %w", err)
	}
	return nil
}

// aliasLine returns the line of the first anchor or alias; 0 if there is none.
func aliasLine(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n.Line
	}
	for _, c := range n.Content {
		if line := aliasLine(c); line > 0 {
			return line
		}
	}
	return 0
}
