package dirfd

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal, and the side at which a person would sit.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// What is typed while input is hidden is read and not shown; what is typed before and
// after is shown.
func TestHideInput(t *testing.T) {
	person, program := terminal(t)
	line := make([]byte, 64)
	typed := func(text string) (shown string) {
		t.Helper()
		if _, err := person.WriteString(text + "\n"); err != nil {
			t.Fatal(err)
		}
		n, err := program.Read(line)
		if err != nil || string(line[:n]) != text+"\n" {
			t.Fatalf("the program reads %q (%v)", line[:n], err)
		}
		n, err = person.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		return string(line[:n])
	}
	if got := typed("before"); got != "before\r\n" {
		t.Errorf("%q is shown", got)
	}
	restore, err := HideInput(program)
	if err != nil {
		t.Fatal(err)
	}
	if got := typed("secret"); got != "\r\n" {
		t.Errorf("%q is shown", got)
	}
	restore()
	if got := typed("after"); got != "after\r\n" {
		t.Errorf("%q is shown", got)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := HideInput(file); err == nil {
		t.Error("a file that is no terminal hides its input")
	}
}
