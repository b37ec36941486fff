package dirfd

import "golang.org/x/sys/unix"

// randomBytes asks the kernel directly: crypto/rand would make every verb a
// fifth larger.
func randomBytes(b []byte) error {
	return retry(func() error {
		_, err := unix.Getrandom(b, 0)
		return err
	})
}
