package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/metacue/metacue/runtime/bind"
)

// fromInbound gives the value of a header of the request that brought the call.
func fromInbound(h http.Header, name string) (string, error) {
	if h == nil {
		return "", errors.New("the call came without HTTP headers")
	}
	switch values := h.Values(name); len(values) {
	case 0:
		return "", errors.New("the caller has not sent it")
	case 1:
		return values[0], nil
	default:
		return "", errors.New("the caller has sent it more than once")
	}
}

// checkInbound says why a header cannot bring secrets. What the caller shows to
// this server is not for others: MCP forbids passing Authorization on
// (2025-06-18, Authorization, "Access Token Privilege Restriction").
func checkInbound(name string) error {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "Cookie", "Mcp-Session-Id":
		return fmt.Errorf("the header %s is for this server alone and is never passed on: name another one", name)
	}
	if !bind.ValidHeaderName(name) {
		return fmt.Errorf("%q is no header name (RFC 9110 §5.6.2)", name)
	}
	return nil
}
