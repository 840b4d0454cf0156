package ledger

import (
	"bytes"
	"errors"
	"io"
)

// MarshalBinary returns the rows as a record of a journal, with its checksum and schema
// version.
func (rec EpisodeRows) MarshalBinary() ([]byte, error) {
	return newCoder().appendFrame(nil, &rec)
}

// UnmarshalBinary reads one record that MarshalBinary returned. It fails if the record is
// damaged or of another schema version.
func (rec *EpisodeRows) UnmarshalBinary(frame []byte) error {
	found := false
	size, err := scanJournal(bytes.NewReader(frame), newCoder(), func(r EpisodeRows, _ int64) error {
		if found {
			return errors.New("more than one record")
		}
		*rec, found = r, true
		return nil
	})
	if err == nil && (!found || size != int64(len(frame))) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
