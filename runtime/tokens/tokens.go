// Package tokens counts what a model reads: o200k_base tokens, offline. It knows
// the wire form of a tool list and nothing of how the list came about.
package tokens

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"
)

// codec is loaded by the first count: its vocabulary of 200,000 entries takes
// some 25 ms and 7 MB (BenchmarkLoad), which a command that counts nothing need
// not spend.
var codec = sync.OnceValue(func() tokenizer.Codec {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(err) // the library no longer has an encoding that it names
	}
	return c
})

// Load begins to load the vocabulary and returns at once. A command that will
// print a count calls it before it reads the configuration, and need not wait
// when it counts.
func Load() { go codec() }

// Count gives the number of o200k_base tokens in s. It is safe for concurrent use.
func Count(s string) int {
	n, err := codec().Count(s)
	if err != nil {
		panic(err) // only a time limit or a strict mode can fail, and neither is set
	}
	return n
}

// List gives the tokens of the tools array of a tools/list result: its compact
// JSON as it goes out, without what stands around it.
func List(tools []*mcp.Tool) int {
	if tools == nil {
		tools = []*mcp.Tool{}
	}
	return count(tools)
}

// Tool gives the tokens of one tool of that array.
func Tool(tool *mcp.Tool) int { return count(tool) }

// count gives the tokens of what is listed, as it goes out.
func count(listed any) int {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(listed); err != nil {
		panic(err) // a listed tool is JSON
	}
	return Count(string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
}
