package sample

import (
	"fmt"
	"net/http"
)

// The parts of Azure DevOps, as they stand in the type names of its errors.
const (
	core  = "Microsoft.VisualStudio.Services.Common"
	teams = "Microsoft.TeamFoundation.Core.WebApi"
	git   = "Microsoft.TeamFoundation.Git.Server"
	wit   = "Microsoft.TeamFoundation.WorkItemTracking.Server"
)

// fault is an answer that is no success. Codes such as TF401019 and type keys
// are those of Azure DevOps, so that they can be looked up; the sentences are
// the sample's own.
type fault struct {
	status             int
	part, key, message string
}

func (f *fault) Error() string { return f.message }

func faultf(status int, part, key, format string, args ...any) *fault {
	return &fault{status, part, key, fmt.Sprintf(format, args...)}
}

// badRequest is a fault of the request's form.
func badRequest(format string, args ...any) error {
	return faultf(http.StatusBadRequest, core, "VssPropertyValidationException", format, args...)
}

// answer is the shape of every error of Azure DevOps.
func (f *fault) answer() any {
	return struct {
		ID        string  `json:"$id"`
		Inner     *string `json:"innerException"`
		Message   string  `json:"message"`
		TypeName  string  `json:"typeName"`
		TypeKey   string  `json:"typeKey"`
		ErrorCode int     `json:"errorCode"`
		EventID   int     `json:"eventId"`
	}{ID: "1", Message: f.message, TypeName: f.part + "." + f.key + ", " + f.part, TypeKey: f.key, EventID: 3000}
}
