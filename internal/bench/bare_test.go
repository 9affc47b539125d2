package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bareAddress is the environment variable that makes this program the bare
// server: where the upstream is. Its argument is the transport.
const bareAddress = "METACUE_BENCH_UPSTREAM"

// bare is the yardstick: a server of the SDK with one raw tool, which makes its
// request by hand and hands the answer on.
func bare() int {
	runtime.MemProfileRate = 0 // as in programs without package pprof, which tests have
	upstream := os.Getenv(bareAddress)
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: maxClients, MaxIdleConnsPerHost: maxClients}}
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name:        "get_thing",
		Description: "Gets a thing",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"fields":{"type":"string"}},"required":["id"]}`),
	}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct{ ID, Fields string }
		if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
			return nil, err
		}
		query := url.Values{"fields": {args.Fields}}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, upstream+"/things/"+url.PathEscape(args.ID)+"?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, IsError: resp.StatusCode/100 != 2}, nil
	})
	var err error
	if os.Args[1] == "http" {
		err = bareHTTP(server)
	} else {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 0
}

// bareHTTP serves as metacue serve does: without sessions, answers as JSON.
func bareHTTP(server *mcp.Server) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	return http.Serve(listener, mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
}
