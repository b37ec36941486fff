package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	// maxFileBytes is how much of one file is used, so that no single table of
	// constants makes up a good part of a text.
	maxFileBytes = 64 << 10

	// testShare is the share of directories that are kept for testing: one in so many.
	testShare = 8
)

// A Corpus is a training text and a test text, each a list of files' contents.
type Corpus struct {
	Train, Test Part
}

// A Part is one side of a Corpus.
type Part struct {
	Texts [][]byte
	Bytes int
}

// ReadCorpus draws a corpus of at most trainBytes and testBytes from the Go
// files below fsys. The same tree always gives the same corpus.
//
// A hash decides for each directory which side all of its files are on, since
// the files of one package resemble each other far more than they resemble a
// stranger's: split by file, the test would reward learning by heart. Another
// hash puts each side's files in order, so that a small budget still draws from
// the whole tree. Generated files and those under vendor and testdata
// are left out, for they repeat others.
func ReadCorpus(fsys fs.FS, trainBytes, testBytes int) (*Corpus, error) {
	names, err := goFiles(fsys)
	if err != nil {
		return nil, err
	}
	var train, test []string
	for _, name := range names {
		if hash("directory", path.Dir(name))[0]%testShare == 0 {
			test = append(test, name)
		} else {
			train = append(train, name)
		}
	}
	var c Corpus
	if c.Train, err = readPart(fsys, train, trainBytes); err != nil {
		return nil, fmt.Errorf("reading the training text: %w", err)
	}
	if c.Test, err = readPart(fsys, test, testBytes); err != nil {
		return nil, fmt.Errorf("reading the test text: %w", err)
	}
	return &c, nil
}

// goFiles lists the regular Go files below fsys in the order of their hashes.
func goFiles(fsys fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "vendor" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, ".go"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing Go files: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(slices.Compare(hash("file", a), hash("file", b)), strings.Compare(a, b))
	})
	return names, nil
}

// readPart reads files in the order given until it has limit bytes.
func readPart(fsys fs.FS, names []string, limit int) (Part, error) {
	var p Part
	for _, name := range names {
		if p.Bytes == limit {
			break
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return Part{}, err
		}
		if len(text) == 0 || generated(text) {
			continue
		}
		text = text[:min(len(text), maxFileBytes, limit-p.Bytes)]
		p.Texts = append(p.Texts, text)
		p.Bytes += len(text)
	}
	if p.Bytes == 0 {
		return Part{}, fmt.Errorf("none of %d Go files can be used", len(names))
	}
	return p, nil
}

// generated reports whether a file says what "go help generate" asks of
// generated files: a whole line "// Code generated … DO NOT EDIT." before the
// package clause.
func generated(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if bytes.HasPrefix(line, []byte("package ")) {
			return false
		}
		if bytes.HasPrefix(line, []byte("// Code generated ")) && bytes.HasSuffix(line, []byte(" DO NOT EDIT.")) {
			return true
		}
	}
	return false
}

// hash is the same on every machine and in every Go release. The purpose keeps
// the choice of a side and the order within it apart.
func hash(purpose, name string) []byte {
	sum := sha256.Sum256([]byte(purpose + "\x00" + name))
	return sum[:]
}
