// Package bench measures the program from outside, as a host runs it: a process
// of its own, spoken to over stdio or HTTP, in front of an API on loopback.
// Beside it, in another process, runs the least that could do the same: a server
// of the MCP SDK whose one tool makes the same request with net/http (bare). What
// either costs depends on the machine and on its load; their ratio hardly does,
// as long as both are measured in turns. So that is what the benchmarks tell.
//
//	go test -bench . ./internal/bench
//
// Both servers collect garbage at the same GOGC, that of metacue serve, keep the
// same number of connections and answer HTTP with JSON.
package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is the bare server where that is asked for.
func TestMain(m *testing.M) {
	if os.Getenv(bareAddress) != "" {
		os.Exit(bare())
	}
	os.Exit(m.Run())
}

// kinds are the calls that are measured, and over which transports: what differs
// between them does not depend on the kind. All come to the one request that the
// bare server's tool makes.
var kinds = []struct {
	name, mode, params string
	transports         []string
}{
	{"direct", "flat", bareParams, transports},
	{"meta", "meta", `{"name":"execute_tool","arguments":{"tool_name":"get_thing","arguments":{"id":"a thing","fields":"name,size"}}}`, transports[:1]},
	{"expression", "flat", `{"name":"get_thing_with","arguments":{"id":"a thing","fields":["name","size"]}}`, transports[:1]},
}

var transports = []string{"stdio", "http"}

const bareParams = `{"name":"get_thing","arguments":{"id":"a thing","fields":"name,size"}}`

// config has one tool whose request only moves arguments, and one that evaluates
// an expression.
const config = `package bench

import "strings"

server: name: "bench"
upstreams: things: url: "https://things.example"
domains: things: {
	description: "Things"
	tools: get_thing: {
		description: "Gets a thing"
		action:      "read"
		input: {id!: string, fields?: string}
		http: {method: "GET", path: "/things/{id}"}
	}
	tools: get_thing_with: {
		description: "Gets a thing with some of its fields"
		action:      "read"
		input: {id!: string, fields!: [...string]}
		http: {method: "GET", path: "/things/{id}", query: fields: strings.Join(input.fields, ",")}
	}
}
`

// manyTools is a configuration of n tools of twelve arguments in nine domains.
func manyTools(n int) string {
	var b strings.Builder
	b.WriteString("package bench\n\nserver: name: \"bench\"\nupstreams: things: url: \"https://things.example\"\n")
	for d := range 9 {
		fmt.Fprintf(&b, "domains: d%d: description: \"Things of kind %d\"\n", d, d)
	}
	types := []string{"string", "int & >=1 & <=1000", `"a" | "b" | "c"`, "[...string]", "bool", "int | *100"}
	marks := []string{"!", "?", "?", "?", "?", ""}
	for i := range n {
		fmt.Fprintf(&b, "domains: d%d: tools: tool_%d: {\n\tdescription: \"Does thing %d to something\"\n\taction: \"read\"\n\tinput: {\n", i%9, i, i)
		for j := range 12 {
			fmt.Fprintf(&b, "\t\t// Argument number %d\n\t\targ%d%s: %s\n", j, j, marks[j%6], types[j%6])
		}
		b.WriteString("\t}\n\thttp: {method: \"GET\", path: \"/things/{arg0}/parts/{arg6}\", query: {\"$top\": input.arg5, filter: input.arg2}}\n}\n")
	}
	return b.String()
}

// writeConfig gives a folder that holds a configuration.
func writeConfig(tb testing.TB, text string) string {
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bench.cue"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

const thing = `{"id":"a thing","name":"Thing","size":42,"owner":{"id":"7c0f","name":"Somebody"},"url":"https://things.example/things/a%20thing"}`

// startUpstream starts the API. seen, if any, is shown each request.
func startUpstream(tb testing.TB, seen func(*http.Request)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen != nil {
			seen(r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(thing))
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// TestSame shows that the benchmarks compare like with like: each kind of call
// makes the bare server's request, and gives its answer.
func TestSame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program, dir := build(t), writeConfig(t, config)
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			var request string
			upstream := startUpstream(t, func(r *http.Request) { request = r.Method + " " + r.RequestURI })
			ask := func(s *server, params string) string {
				answer, err := s.callers(1, params)[0]()
				if err != nil {
					t.Fatal(err)
				}
				return request + "\n" + text(t, answer)
			}
			want := ask(startBare(t, transport, upstream), bareParams)
			if want != "GET /things/a%20thing?fields=name%2Csize\n"+thing {
				t.Fatalf("bare: %s", want)
			}
			for _, k := range kinds {
				if got := ask(startProgram(t, program, transport, upstream, k.mode, dir), k.params); got != want {
					t.Errorf("%s:\n got %s\nwant %s", k.name, got, want)
				}
			}
		})
	}
}

// The measuring of one benchmark: rounds of calls, to the one server and to the
// other. A round is short, so that both are met by the same load of the machine.
const (
	rounds     = 41
	roundCalls = 128
)

// BenchmarkCall tells how calls through the program compare with calls through
// the bare server: the median over all rounds of the ratio of their median times
// and of the calls answered in a second, and the ratio of the processor time that
// the two servers take in all. An operation is the whole measurement.
func BenchmarkCall(b *testing.B) {
	program, dir := build(b), writeConfig(b, config)
	for _, k := range kinds {
		for _, transport := range k.transports {
			for _, clients := range []int{1, 16} {
				b.Run(fmt.Sprintf("%s/%s/%d-clients", k.name, transport, clients), func(b *testing.B) {
					upstream := startUpstream(b, nil)
					ours := newSubject("metacue", startProgram(b, program, transport, upstream, k.mode, dir), clients, k.params)
					bare := newSubject("bare", startBare(b, transport, upstream), clients, bareParams)
					for b.Loop() {
						for i := range rounds {
							pair := []*subject{ours, bare}
							if i%2 == 1 {
								slices.Reverse(pair)
							}
							for _, s := range pair {
								if err := s.round(); err != nil {
									b.Fatal(err)
								}
							}
						}
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(ratio(ours.p50s, bare.p50s), "ratio-p50")
					b.ReportMetric(ratio(ours.rates, bare.rates), "ratio-calls/s")
					if cpu := bare.cpuPerCall(); cpu > 0 {
						b.ReportMetric(ours.cpuPerCall()/cpu, "ratio-cpu")
					}
					ours.report(b)
					bare.report(b)
				})
			}
		}
	}
}

// subject is a server being measured.
type subject struct {
	name    string
	server  *server
	callers []caller
	cpu     time.Duration // that the process had used before
	p50s    []float64     // the median time of a call in each round, in µs
	rates   []float64     // calls a second in each round
}

// newSubject brings a server to the state in which it is measured: warm.
func newSubject(name string, s *server, clients int, params string) *subject {
	sub := &subject{name: name, server: s, callers: s.callers(clients, params)}
	for range 4 {
		sub.round() // a fault shows when it counts
	}
	sub.cpu, sub.p50s, sub.rates = s.cpu(), nil, nil
	return sub
}

// round has all clients call at once.
func (s *subject) round() error {
	each := roundCalls / len(s.callers)
	took := make([]time.Duration, roundCalls)
	faults := make([]error, len(s.callers))
	var wg sync.WaitGroup
	begin := time.Now()
	for i, call := range s.callers {
		wg.Go(func() {
			for j := range each {
				start := time.Now()
				answer, err := call()
				took[i*each+j] = time.Since(start)
				if err == nil && !bytes.Contains(answer, []byte("Somebody")) {
					err = fmt.Errorf("%s answered %s", s.name, answer)
				}
				if err != nil {
					faults[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	all := time.Since(begin)
	slices.Sort(took)
	s.p50s = append(s.p50s, float64(took[len(took)/2])/float64(time.Microsecond))
	s.rates = append(s.rates, roundCalls/all.Seconds())
	return errors.Join(faults...)
}

// report tells what stands behind the ratios.
func (s *subject) report(b *testing.B) {
	b.ReportMetric(median(s.p50s), s.name+"-p50-µs")
	b.ReportMetric(median(s.rates), s.name+"-calls/s")
	if cpu := s.cpuPerCall(); cpu > 0 {
		b.ReportMetric(cpu, s.name+"-cpu-µs/call")
		b.ReportMetric(s.server.memory("VmHWM"), s.name+"-peak-MiB")
	}
}

// cpuPerCall is the processor time of the server for each call, in µs, 0 where the
// system does not tell.
func (s *subject) cpuPerCall() float64 {
	return float64(s.server.cpu()-s.cpu) / float64(time.Microsecond) / float64(len(s.p50s)*roundCalls)
}

// ratio is the median ratio of what was measured in the same rounds.
func ratio(ours, bare []float64) float64 {
	all := make([]float64, len(ours))
	for i := range all {
		all[i] = ours[i] / bare[i]
	}
	return median(all)
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// settle is how long a server is left alone until it is idle: the runtime gives
// memory back in the background, and says nothing when it has.
const settle = 300 * time.Millisecond

// BenchmarkStart is the time from the start of the process to the first list of
// tools, the processor time and the memory that it takes until then, and the
// memory that stays resident.
func BenchmarkStart(b *testing.B) {
	program := build(b)
	thousand := writeConfig(b, manyTools(1000))
	upstream := startUpstream(b, nil)
	for _, c := range []struct {
		name  string
		start func(testing.TB) *server
	}{
		{"bare", func(tb testing.TB) *server { return startBare(tb, "stdio", upstream) }},
		{"built-in/flat", func(tb testing.TB) *server { return startProgram(tb, program, "stdio", "", "flat") }},
		{"built-in/meta", func(tb testing.TB) *server { return startProgram(tb, program, "stdio", "", "meta") }},
		{"1000-tools/flat", func(tb testing.TB) *server { return startProgram(tb, program, "stdio", "", "flat", thousand) }},
		{"1000-tools/meta", func(tb testing.TB) *server { return startProgram(tb, program, "stdio", "", "meta", thousand) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var cpu, peak []float64
			idle := 0.0
			for b.Loop() {
				s := c.start(b)
				if _, err := s.request("tools/list", "{}"); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				cpu = append(cpu, float64(s.cpu())/float64(time.Millisecond))
				peak = append(peak, s.memory("VmHWM"))
				if idle == 0 {
					time.Sleep(settle)
					idle = s.memory("VmRSS")
				}
				s.stop()
				b.StartTimer()
			}
			if idle > 0 {
				b.ReportMetric(median(cpu), "cpu-ms/op")
				b.ReportMetric(median(peak), "peak-MiB")
				b.ReportMetric(idle, "idle-MiB")
			}
		})
	}
}
