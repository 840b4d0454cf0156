package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// A Parquet file has no checksum of its own, and a flipped bit in it reads as
// other rows, or panics. So the footer holds the SHA-256 of the file, taken with
// the place of the digest filled with zeros.

const sealLen = 2 * sha256.Size

// sealBlank is what the place of the seal holds while the digest is taken.
var sealBlank = string(bytes.Repeat([]byte{'0'}, sealLen))

// sealAt finds the place of the seal in a Parquet file.
func sealAt(file []byte) (int, error) {
	const magic, tail = "PAR1", 8 // footer length and magic
	n := len(file)
	if n < len(magic)+tail || string(file[n-len(magic):]) != magic {
		return 0, errors.New("cut short or not a Parquet file")
	}
	footer := int64(binary.LittleEndian.Uint32(file[n-tail:]))
	start := int64(n-tail) - footer
	if start < int64(len(magic)) {
		return 0, errors.New("damaged: its footer is longer than the file")
	}
	// Thrift, compact form: field 1 (key) and field 2 (value), each a string with
	// its length. The last match is ours: only the schema order and the writer's
	// name follow the metadata, while bounds of text columns come before.
	mark := append([]byte{0x18, byte(len(keySeal))}, keySeal...)
	mark = append(mark, 0x18, sealLen)
	i := bytes.LastIndex(file[start:n-tail], mark)
	if i < 0 || int(start)+i+len(mark)+sealLen > n-tail {
		return 0, errors.New("damaged, or not written by cupel: it has no " + keySeal)
	}
	return int(start) + i + len(mark), nil
}

// seal fills in the digest of a file whose place holds sealBlank.
func seal(file []byte) error {
	at, err := sealAt(file)
	if err != nil {
		return err
	}
	copy(file[at:], fileDigest(file, at))
	return nil
}

// verifySeal tells a damaged file from one as it was written.
func verifySeal(file []byte) error {
	at, err := sealAt(file)
	if err != nil {
		return err
	}
	if string(file[at:at+sealLen]) != fileDigest(file, at) {
		return errors.New("damaged or changed after it was written: its content does not have the digest its footer names")
	}
	return nil
}

func fileDigest(file []byte, at int) string {
	h := sha256.New()
	h.Write(file[:at])
	h.Write([]byte(sealBlank))
	h.Write(file[at+sealLen:])
	return hex.EncodeToString(h.Sum(nil))
}
