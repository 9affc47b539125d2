package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/surface"
)

// The benchmarks set metacue beside a bare server of the SDK that has the same
// tools and a raw handler with the same answer: the difference is what serve and
// surface cost.

const benchAnswer = `{"id":42,"name":"web","defaultBranch":"refs/heads/main"}`

// benchCatalog is 100 tools of 12 arguments.
func benchCatalog() *catalog.Catalog {
	var properties bytes.Buffer
	for i := range 12 {
		fmt.Fprintf(&properties, `,"argument_%d":{"type":"string","description":"Argument %d of the tool"}`, i, i)
	}
	schema := json.RawMessage(`{"type":"object","properties":{` + properties.String()[1:] + `},"additionalProperties":false}`)
	d := &catalog.Domain{Name: "core", Summary: "core"}
	for i := range 100 {
		d.Tools = append(d.Tools, &catalog.Tool{
			Name: fmt.Sprintf("tool_%03d", i), Description: "Do one thing", Domain: "core", Action: "read", Effect: catalog.Read,
			Annotations: catalog.Annotations{ReadOnly: true}, InputSchema: schema,
		})
	}
	return catalog.New(catalog.Catalog{Actions: []catalog.Action{{Name: "read", Effect: catalog.Read}}, Domains: []*catalog.Domain{d}})
}

func benchSurface(b *testing.B, mode string) surface.Surface {
	s, err := surface.New(mode, benchCatalog(), func(context.Context, call.Caller, string, json.RawMessage) call.Result {
		return call.Text(benchAnswer)
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// bare is the SDK's server alone, with the tools of flat.
func bare(b *testing.B) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare"}, nil)
	for _, t := range benchSurface(b, "flat").Tools() {
		s.AddTool(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: benchAnswer}}}, nil
		})
	}
	return s
}

const (
	benchInit   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	benchList   = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	benchDirect = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool_042","arguments":{"argument_1":"a","argument_2":"b"}}}`
	benchMeta   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_tool","arguments":{"tool_name":"tool_042","arguments":{"argument_1":"a","argument_2":"b"}}}}`
)

// benchKinds is what is measured of each transport.
var benchKinds = []struct{ name, mode, request string }{
	{"call/bare", "", benchDirect},
	{"call/flat", "flat", benchDirect},
	{"call/meta", "meta", benchMeta},
	{"call/meta-by-own-name", "meta", benchDirect},
	{"list/bare", "", benchList},
	{"list/flat", "flat", benchList},
	{"list/meta", "meta", benchList},
}

func BenchmarkStdio(b *testing.B) {
	for _, k := range benchKinds {
		b.Run(k.name, func(b *testing.B) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			done := make(chan error, 1)
			go func() {
				if k.mode == "" {
					done <- bare(b).Run(context.Background(), &mcp.IOTransport{Reader: inR, Writer: outW})
				} else {
					done <- Stdio(context.Background(), inR, outW, Options{Name: "bench", Surface: benchSurface(b, k.mode)})
				}
			}()
			out := bufio.NewReaderSize(outR, 1<<20)
			ask := func(request string) {
				if _, err := io.WriteString(inW, request+"\n"); err != nil {
					b.Fatal(err)
				}
				for {
					_, more, err := out.ReadLine()
					if err != nil {
						b.Fatal(err)
					}
					if !more {
						return
					}
				}
			}
			ask(benchInit)
			io.WriteString(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
			b.ReportAllocs()
			for b.Loop() {
				ask(k.request)
			}
			b.StopTimer()
			inW.Close()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}

func BenchmarkHTTP(b *testing.B) {
	for _, clients := range []int{1, 16} {
		for _, k := range benchKinds {
			b.Run(fmt.Sprintf("%d-clients/%s", clients, k.name), func(b *testing.B) {
				at := ""
				if k.mode == "" {
					server := bare(b)
					s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
						&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
					defer s.Close()
					at = s.URL
				} else {
					h := start(b, HTTPOptions{Options: Options{Name: "bench", Surface: benchSurface(b, k.mode)}})
					defer h.end()
					at = h.url
				}
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
				defer client.CloseIdleConnections()
				b.ReportAllocs()
				b.SetParallelism(max(1, clients/2)) // times GOMAXPROCS
				ask := func() {
					req, _ := http.NewRequest(http.MethodPost, at, bytes.NewReader([]byte(k.request)))
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Accept", "application/json, text/event-stream")
					req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
					res, err := client.Do(req)
					if err != nil {
						b.Error(err)
						return
					}
					defer res.Body.Close()
					if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
						b.Error(res.Status, err)
					}
				}
				if clients == 1 {
					for b.Loop() {
						ask()
					}
					return
				}
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						ask()
					}
				})
			})
		}
	}
}

// BenchmarkNewServer is the cost of a generation: of one server with a surface's tools.
func BenchmarkNewServer(b *testing.B) {
	s := benchSurface(b, "flat")
	for b.Loop() {
		newServer(Options{Surface: s}, context.Background())
	}
}
