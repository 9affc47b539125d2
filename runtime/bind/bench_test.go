package bind_test

import (
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// direct is a request of direct references: three path variables and six query
// parameters.
func direct(t testing.TB) (*bind.Request, *bind.Scope) {
	r := &bind.Request{
		Base:   base(t, "https://dev.azure.com/contoso"),
		Method: "GET",
		Path:   template(t, "/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}"),
		Query: []bind.Field{
			{Name: "api-version", Value: bind.Const(`"7.1"`)},
			{Name: "searchCriteria.status", Value: input("status")},
			{Name: "searchCriteria.targetRefName", Value: input("targetRefName")},
			{Name: "$top", Value: input("top")},
			{Name: "$skip", Value: input("skip")},
			{Name: "includeLinks", Value: input("includeLinks")},
		},
	}
	return r, scope(t, `{"project":"Fabrikam Fiber","repositoryId":"3411ebc1-d5aa-464f-9615-0b527bc66719",
		"pullRequestId":12345678,"status":"active","targetRefName":"refs/heads/main","top":100,"skip":0,"includeLinks":true}`)
}

func BenchmarkBuildDirect(b *testing.B) {
	r, s := direct(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Build(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuildBody has a body of ten members beside three path variables.
func BenchmarkBuildBody(b *testing.B) {
	r, s := direct(b)
	r.Method, r.Query = "POST", nil
	body := bind.Object{}
	for name := range s.Args {
		body = append(body, bind.Field{Name: name, Value: input(name)})
	}
	body = append(body,
		bind.Field{Name: "reviewer", Value: bind.Object{{Name: "id", Value: input("repositoryId")}}},
		bind.Field{Name: "labels", Value: bind.List{bind.Const(`"a"`), input("status")}})
	r.Body = &bind.Body{Value: body}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Build(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseArgs(b *testing.B) {
	data := []byte(`{"project": "Fabrikam Fiber", "repositoryId": "3411ebc1-d5aa-464f-9615-0b527bc66719", "top": 100,
		"title": "Fix the \"login\" page", "reviewers": ["a@example.org", "b@example.org"],
		"updates": [{"op": "add", "path": "/fields/System.Title", "value": "x"}, {"op": "test", "path": "/rev", "value": 3}]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bind.ParseArgs(data, bind.DefaultBounds); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuildHostile has values that try to make the checks of a path slow;
// its time for each byte should be that of BenchmarkBuildLong.
func BenchmarkBuildHostile(b *testing.B) {
	for _, piece := range []string{"/", "../", "%25", "%2"} {
		b.Run(piece, func(b *testing.B) { buildLong(b, piece) })
	}
}

func BenchmarkBuildLong(b *testing.B) { buildLong(b, "x") }

func buildLong(b *testing.B, piece string) {
	value := strings.Repeat(piece, 100_000/len(piece))
	r := request(b, "/{x}/{+x}")
	s := &bind.Scope{Args: bind.Args{"x": quoted(b, value)}}
	b.SetBytes(int64(2 * len(value)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Build(b.Context(), s) // refused or not
	}
}
