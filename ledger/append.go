package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// AppendSubmitted records launches that a sleep submitted, and returns how many
// of them were new. One whose sleep and name already have a record is left out:
// the first one stands.
//
// The ledger is made where it is missing; its directory is not. Waiting for
// another process's append ends with the context. After an error some of the
// launches may be recorded; the call may simply be made again.
func AppendSubmitted(ctx context.Context, path string, launches ...Submitted) (added int, err error) {
	items := make([]item, len(launches))
	for i := range launches {
		line, err := launches[i].line()
		if err != nil {
			return 0, err
		}
		items[i] = item{identity{launches[i].Sleep, launches[i].Name}, line}
	}
	return appendAll(ctx, path, submittedEvent, items)
}

// AppendEnded records jobs that came back, under the rules of
// [AppendSubmitted]: the first record of a job stands.
func AppendEnded(ctx context.Context, path string, jobs ...Ended) (added int, err error) {
	items := make([]item, len(jobs))
	for i := range jobs {
		line, err := jobs[i].line()
		if err != nil {
			return 0, err
		}
		items[i] = item{identity{jobs[i].Sleep, jobs[i].Name}, line}
	}
	return appendAll(ctx, path, endedEvent, items)
}

// item is a record to be appended.
type item struct {
	id   identity
	line []byte
}

func appendAll(ctx context.Context, path, event string, items []item) (added int, err error) {
	if len(items) == 0 {
		return 0, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("appending to the ledger %s: %w", path, err)
		}
	}()
	dir, err := dirfd.Open(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	// The lock is on the ledger itself, which is never replaced, so whoever
	// holds it is alone with the file that its name leads to.
	unlock, err := dir.Lock(ctx, filepath.Base(path), -1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st.Size() == 0 {
		// Taking the lock may have made the file just now. Its name has to be on
		// disk before a record in it can be.
		if err := dir.Sync(); err != nil {
			return 0, err
		}
	}
	return appendTo(f, st.Size(), event, items)
}

// appendTo appends what is new to a file of that size, which nobody else
// appends to meanwhile.
func appendTo(f *os.File, size int64, event string, items []item) (added int, err error) {
	known, err := identities(f, size, event)
	if err != nil {
		return 0, err
	}
	torn, err := tornTail(f, size)
	if err != nil {
		return 0, err
	}
	for _, it := range items {
		if known[it.id] {
			continue
		}
		line := it.line
		if torn {
			// The newline goes out in the same write as the record: a crash
			// between two writes would leave an empty line, this leaves nothing.
			line = append([]byte{'\n'}, line...)
		}
		if err := writeWhole(f, size, line); err != nil {
			return added, err
		}
		size += int64(len(line))
		known[it.id] = true
		torn = false
		added++
	}
	// Even where nothing was new: whoever appended it may have died before its
	// own sync, and this caller acts on the record being on disk.
	return added, f.Sync()
}

// identities reads which identities have a record of the event.
func identities(f io.ReaderAt, size int64, event string) (map[identity]bool, error) {
	known := make(map[identity]bool)
	_, err := scan(io.NewSectionReader(f, 0, size), func(r *record) {
		if r.Event == event {
			known[r.identity()] = true
		}
	})
	return known, err
}

// tornTail says whether the file ends in the middle of a line.
func tornTail(f io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return !bytes.Equal(last[:], []byte{'\n'}), nil
}

// writeWhole appends the line with one write. Where the disk takes only a part
// of it, that part is cut off again, so that the ledger ends where it did and
// the next append finds no torn tail. If even that fails, the tail costs this
// line alone.
func writeWhole(f *os.File, size int64, line []byte) error {
	n, err := f.Write(line)
	if err == nil {
		return nil
	}
	if n > 0 {
		err = errors.Join(err, f.Truncate(size))
	}
	return err
}
