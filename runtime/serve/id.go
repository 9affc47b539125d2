package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errInexact says that the answer to a request could not bear its id.
var errInexact = errors.New("the id must be a string or an integer of at most 53 bits")

// readID reads the id of a request; absent is the zero ID. The SDK keeps a number as an
// int64, by way of a float64: one that it would change is refused, since nobody would
// know the answer by it.
func readID(text json.RawMessage) (jsonrpc.ID, error) {
	var given any
	if text != nil && json.Unmarshal(text, &given) != nil {
		return jsonrpc.ID{}, errInexact // beyond a float64
	}
	id, err := jsonrpc.MakeID(given)
	if err == nil && !same(text, id) {
		err = errInexact
	}
	return id, err
}

// same says whether an id is what the SDK made of it.
func same(text json.RawMessage, id jsonrpc.ID) bool {
	n, ok := id.Raw().(int64)
	if !ok {
		return true
	}
	if len(text) > 32 {
		return false
	}
	given, ok := new(big.Float).SetPrec(1 << 10).SetString(string(text))
	return ok && given.Cmp(new(big.Float).SetInt64(n)) == 0
}

// exactly refuses messages whose id the SDK would change. All else that is wrong with a
// message is left to it.
func exactly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		text, _ := io.ReadAll(io.LimitReader(r.Body, maxMessageBytes+1)) // an error comes again
		var one map[string]json.RawMessage
		var batch []map[string]json.RawMessage
		if json.Unmarshal(text, &one) == nil {
			batch = append(batch, one)
		} else {
			_ = json.Unmarshal(text, &batch)
		}
		for _, m := range batch {
			if _, err := readID(m["id"]); errors.Is(err, errInexact) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write(errorResponse(m["id"], jsonrpc.CodeInvalidRequest, notMessage(err)))
				return
			}
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(text), r.Body), r.Body}
		next.ServeHTTP(w, r)
	})
}
