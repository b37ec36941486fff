// Command empty does nothing: what is left is what any Go program costs.
package main

func main() {}
