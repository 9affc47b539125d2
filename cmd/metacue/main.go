// Command metacue puts a REST API in front of an AI agent, from one CUE
// configuration. Each command has a file of its own.
package main

import "os"

func main() { os.Exit(run()) }
