// x
package main

import (
	"os"

	"github.com/outerloop-go/outerloop/internal/verbs"
)

func main() { os.Exit(verbs.Main(verbs.History)) }
