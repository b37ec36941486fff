package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Write writes the manual pages and completions of all programs below a directory
// that stands for <prefix>/share: man/man1, bash-completion/completions,
// zsh/site-functions and fish/vendor_completions.d, where each shell looks by itself.
func Write(share, version string, pages []*Page) error {
	programs := map[string][]*Page{}
	for _, p := range pages {
		programs[p.program()] = append(programs[p.program()], p)
		if err := write(share, "man/man1/"+p.File(), p.Roff(version, seeAlso(p, pages))); err != nil {
			return err
		}
	}
	for name, of := range programs {
		for file, content := range map[string][]byte{
			"bash-completion/completions/" + name:         Bash(of),
			"zsh/site-functions/_" + name:                 Zsh(of),
			"fish/vendor_completions.d/" + name + ".fish": Fish(of),
		} {
			if err := write(share, file, content); err != nil {
				return err
			}
		}
	}
	return nil
}

// seeAlso are the other pages of the same kind: of the verbs, or of the program's commands.
func seeAlso(p *Page, pages []*Page) (names []string) {
	ofCommands := func(p *Page) bool { return p.program() == "outerloop-tick" }
	for _, other := range pages {
		if other != p && ofCommands(other) == ofCommands(p) {
			names = append(names, other.File()[:len(other.File())-len(".1")])
		}
	}
	slices.Sort(names)
	return names
}

func write(share, name string, content []byte) error {
	file := filepath.Join(share, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("making the directory of %s: %w", name, err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
