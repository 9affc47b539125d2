// Package demo shows a whole session of an agent against the sample
// organization: the built-in configuration, served the way metacue serve does,
// and every HTTP request that comes of it. It is a test of itself: a step whose
// answer is not what it should be fails the demonstration. It knows the pipeline
// from outside alone.
package demo

import (
	"fmt"
	"log/slog"
	"os"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

// upstreams are those of the built-in configuration, secret is its token.
var upstreams = []string{"devops", "identities", "search", "security", "results"}

const secret = "AZURE_DEVOPS_PAT"

// token is what the sample organization demands. A real one that may stand in
// the environment is not read.
const token = "token-of-the-demo"

// Stage is the built-in configuration over a sample organization of its own.
type Stage struct {
	Program *exec.Program
	Org     *sample.Org
	URL     string // of the organization
	stop    func()
}

// NewStage starts a sample organization and compiles the built-in configuration
// against it, with Contoso as the default project.
func NewStage(log *slog.Logger) (*Stage, error) {
	org := sample.New(sample.Options{PAT: token})
	url, stop, err := org.Start()
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for _, name := range upstreams {
		at[name] = url
	}
	cfg, findings := load.FS(config.Files, "built-in", load.Options{Tags: map[string]string{"project": "Contoso"}})
	var program *exec.Program
	if cfg != nil && len(findings) == 0 {
		program, findings = compile.Compile(cfg, compile.Options{
			Upstreams: at,
			Rest:      rest.Options{Getenv: getenv, Log: log},
			Log:       log,
		})
	}
	if len(findings) > 0 {
		stop()
		return nil, fmt.Errorf("the built-in configuration has faults: %w", findings)
	}
	return &Stage{Program: program, Org: org, URL: url, stop: stop}, nil
}

// Close ends the organization.
func (s *Stage) Close() { s.stop() }

// Call gives a line for a shell that calls a tool of the built-in configuration at the
// organization. The token in it is no secret: the organization ends with the stage.
func (s *Stage) Call(tool string) string {
	line := secret + "=" + token + " metacue call " + tool + " -t project=Contoso"
	for _, name := range upstreams {
		line += " --upstream " + name + "=" + s.URL
	}
	return line
}

func getenv(name string) (string, bool) {
	if name == secret {
		return token, true
	}
	return os.LookupEnv(name)
}
