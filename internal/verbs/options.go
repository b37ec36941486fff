package verbs

import (
	"errors"
	"strconv"
)

// options are a program's flags, in the order in which its help lists them.
//
// They stand in for the flag package, which links 41 kB whatever is used of it
// and would take the verbs beyond the size that they may have. Nor would much of
// it be used: see [parse].
type options []*option

type option struct {
	name  string
	value string // what its value is called in the help, "" for one without
	usage string
	given bool
	set   func(string) error // the error completes "--name wants …"
}

func (o *options) add(name, value, usage string, set func(string) error) *option {
	opt := &option{name: name, value: value, usage: usage, set: set}
	*o = append(*o, opt)
	return opt
}

func (o *options) text(into *string, name, value, usage string) *option {
	return o.add(name, value, usage, func(s string) error {
		*into = s
		return nil
	})
}

// texts is a flag that may be given several times.
func (o *options) texts(into *[]string, name, value, usage string) *option {
	return o.add(name, value, usage, func(s string) error {
		*into = append(*into, s)
		return nil
	})
}

// number is a flag that takes a whole number. One that no int can hold is as
// good as the largest: a bound clamps or refuses it by its sign, as it does in a
// committed request.
func (o *options) number(into *int, name, value, usage string) *option {
	return o.add(name, value, usage, func(s string) error {
		n, err := strconv.ParseInt(s, 10, strconv.IntSize)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return errors.New("a whole number")
		}
		*into = int(n)
		return nil
	})
}

// json is the flag of every verb that has something to read.
func (o *options) json(into *bool) *option {
	return o.add("json", "", "print JSON", func(string) error {
		*into = true
		return nil
	})
}

// find returns the option of that name, nil if there is none.
func (o options) find(name string) *option {
	for _, opt := range o {
		if opt.name == name {
			return opt
		}
	}
	return nil
}

// names lists all flags, those of every program included.
func (o options) names() (list []string) {
	for _, opt := range o {
		list = append(list, opt.name)
	}
	return append(list, "help", "version")
}
