package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// A Parquet file has no checksum, so that a flipped bit would give other rows or a panic. The
// footer therefore has the SHA-256 of the file, computed with zeros in place of the digest.

const sealLen = 2 * sha256.Size

// maxFooter bounds the footer of a file, which is read into memory. That of 16 million rows has
// 4 MB.
const maxFooter = 64 << 20

// sealBlank is in place of the digest while that is computed.
var sealBlank = string(bytes.Repeat([]byte{'0'}, sealLen))

// sealAt returns the offset of the digest in a Parquet file.
func sealAt(file io.ReaderAt, size int64) (int64, error) {
	const magic, tail = "PAR1", 8 // footer length and magic
	end := make([]byte, tail)
	if size < int64(len(magic)+tail) {
		return 0, errors.New("cut short or not a Parquet file")
	}
	if _, err := file.ReadAt(end, size-tail); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if string(end[tail-len(magic):]) != magic {
		return 0, errors.New("cut short or not a Parquet file")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	start := size - tail - length
	if start < int64(len(magic)) {
		return 0, errors.New("damaged: its footer is longer than the file")
	}
	if length > maxFooter {
		return 0, fmt.Errorf("its footer has %d bytes, more than %d", length, maxFooter)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	// In compact Thrift, field 1 (key) and field 2 (value) are strings with their lengths. The
	// last match is the digest, because texts of columns can only precede the metadata.
	mark := append([]byte{0x18, byte(len(keySeal))}, keySeal...)
	mark = append(mark, 0x18, sealLen)
	i := bytes.LastIndex(footer, mark)
	if i < 0 || i+len(mark)+sealLen > len(footer) {
		return 0, errors.New("damaged, or not written by cupel: it has no " + keySeal)
	}
	return start + int64(i+len(mark)), nil
}

// sealed forwards the written bytes and hashes them.
type sealWriter struct {
	to   file
	hash hash.Hash
	size int64
}

// file is the file that a table is written to.
type file interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
}

func (s *sealWriter) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	return n, err
}

// seal replaces sealBlank with the digest of the written bytes.
func (s *sealWriter) seal() error {
	at, err := sealAt(s.to, s.size)
	if err != nil {
		return err
	}
	_, err = s.to.WriteAt([]byte(hex.EncodeToString(s.hash.Sum(nil))), at)
	return err
}

// verifySeal rejects a file whose content does not have the digest in its footer.
func verifySeal(file io.ReaderAt, size int64) error {
	at, err := sealAt(file, size)
	if err != nil {
		return err
	}
	claimed := make([]byte, sealLen)
	if _, err := file.ReadAt(claimed, at); err != nil {
		return err
	}
	digest, err := fileDigest(file, size, at)
	if err != nil {
		return err
	}
	if string(claimed) != digest {
		return errors.New("damaged or changed after it was written: its content does not have the digest its footer names")
	}
	return nil
}

func fileDigest(file io.ReaderAt, size, at int64) (string, error) {
	h := sha256.New()
	rest := at + sealLen
	_, err := io.Copy(h, io.MultiReader(io.NewSectionReader(file, 0, at), strings.NewReader(sealBlank), io.NewSectionReader(file, rest, size-rest)))
	return hex.EncodeToString(h.Sum(nil)), err
}
