package ledger

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A frame of the journal is a head of 16 bytes and a payload. The head has, in little-endian,
// the mark CJ, the schema version (2 bytes), the length of the payload (4), its CRC-32C (4) and
// the CRC-32C of the head so far (4). The second checksum makes the length reliable before the
// payload is read, so that a frame which ends after the end of the file is known to be one that
// a crash truncated.
const headLen = 16

var frameMark = []byte("CJ")

// maxRecord bounds a payload, in bytes.
const maxRecord = 32 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errBroken  = errors.New("length or checksum of the record do not match")
	errVersion = errors.New("record of schema version")
)

// appendFrame appends the frame of an episode. If it fails, it returns dst unchanged.
func (c *coder) appendFrame(dst []byte, rec *EpisodeRows) ([]byte, error) {
	start := len(dst)
	var head [headLen]byte
	dst = c.appendEpisode(append(dst, head[:]...), rec)
	if n := len(dst) - start - headLen; n > maxRecord {
		return dst[:start], fmt.Errorf("its rows have %d bytes, more than %d", n, maxRecord)
	}
	fillHead(dst[start:])
	return dst, nil
}

// fillHead fills in the head of a frame.
func fillHead(frame []byte) {
	copy(frame, frameMark)
	payload := frame[headLen:]
	binary.LittleEndian.PutUint16(frame[2:], schemaVersion)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(frame[8:], crc32.Checksum(payload, castagnoli))
	fillHeadSum(frame)
}

func fillHeadSum(head []byte) {
	binary.LittleEndian.PutUint32(head[12:], crc32.Checksum(head[:12], castagnoli))
}

// isHead reports whether a frame begins here.
func isHead(b []byte) bool {
	return len(b) >= headLen && bytes.HasPrefix(b, frameMark) &&
		crc32.Checksum(b[:12], castagnoli) == binary.LittleEndian.Uint32(b[12:])
}

// parseHead returns the length of the payload.
func parseHead(head []byte) (int, error) {
	if !isHead(head) {
		return 0, errBroken
	}
	if v := binary.LittleEndian.Uint16(head[2:]); v != schemaVersion {
		return 0, fmt.Errorf("%w \"%d\", this cupel reads version %d: finish the run with the cupel that began it", errVersion, v, schemaVersion)
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n > maxRecord {
		return 0, fmt.Errorf("record of %d bytes, more than %d", n, maxRecord)
	}
	return int(n), nil
}

func checkPayload(head, payload []byte) error {
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(head[8:]) {
		return errBroken
	}
	return nil
}

// readFrame returns the payload of the frame at an offset, in buf if that is large enough.
func readFrame(file io.ReaderAt, at, size int64, buf []byte) ([]byte, error) {
	if at < 0 || at > size-headLen {
		return nil, errors.New("no record is there")
	}
	have, err := file.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
	if err != nil {
		return nil, err
	}
	n, err := parseHead(buf[:have])
	if err != nil {
		return nil, err
	}
	if int64(n) > size-at-headLen {
		return nil, errBroken
	}
	frame := buf
	if headLen+n > len(buf) {
		frame = make([]byte, headLen+n)
		copy(frame, buf[:have])
		if _, err := file.ReadAt(frame[have:], at+int64(have)); err != nil {
			return nil, err
		}
	}
	return frame[headLen : headLen+n], checkPayload(frame, frame[headLen:headLen+n])
}

// scanJournal calls visit with each record and returns the size of the complete ones. A crash
// may have left an incomplete one after them.
func scanJournal(r io.Reader, c *coder, visit func(rec EpisodeRows, at int64) error) (good int64, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	var frame []byte
	for {
		frame, err = nextFrame(in, frame[:0])
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if errors.Is(err, errBroken) {
			// A crash can leave zeros or parts of the last frame at the end of the file. Another
			// frame after the broken one means damage.
			var torn bool
			if torn, err = isTail(in, frame, good == 0); torn {
				return good, nil
			}
		}
		var rec EpisodeRows
		if err == nil {
			rec, err = c.decodeEpisode(frame[headLen:])
		}
		if err != nil {
			return good, refused(err, good)
		}
		if visit != nil {
			if err := visit(rec, good); err != nil {
				return good, err
			}
		}
		good += int64(len(frame))
	}
}

func refused(err error, at int64) error {
	if errors.Is(err, errVersion) {
		return err
	}
	return fmt.Errorf("damaged at offset %d: %w. The records before it are intact: truncate the file there, and cupel runs the later episodes again", at, err)
}

// nextFrame appends the next frame to frame. The error is io.EOF if the file ends within the
// frame, and errBroken, with the bytes that were read, if the bytes are not a valid frame.
func nextFrame(in *bufio.Reader, frame []byte) ([]byte, error) {
	head, err := in.Peek(headLen)
	if err != nil {
		return frame, err
	}
	n, err := parseHead(head)
	if err != nil {
		return frame, err
	}
	if n += headLen; cap(frame) < n {
		frame = make([]byte, 0, n+n/4)
	}
	if _, err := io.ReadFull(in, frame[:n]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return frame, err
	}
	frame = frame[:n]
	return frame, checkPayload(frame, frame[headLen:])
}

// isTail reports whether no other frame follows the broken one. read are the bytes already read
// of it. first means that no complete frame precedes it; then only zeros are a tail, because
// the file may not be a journal.
func isTail(in *bufio.Reader, read []byte, first bool) (bool, error) {
	rest := in
	if len(read) > 0 {
		rest = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(read[1:]), in), 64<<10)
		first = false
	}
	zeros := true
	for {
		head, err := rest.Peek(headLen)
		switch {
		case len(head) == 0 && errors.Is(err, io.EOF):
			if first && !zeros {
				return false, errors.New("not a journal of cupel")
			}
			return true, nil
		case err != nil && !errors.Is(err, io.EOF):
			return false, err
		case isHead(head):
			return false, errBroken
		}
		zeros = zeros && head[0] == 0
		if _, err := rest.Discard(1); err != nil {
			return false, err
		}
	}
}
