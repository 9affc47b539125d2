package serve

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a client may take to send the body of a request.
const bodyTime = 30 * time.Second

// timely keeps clients that send bodies slowly, or never to the end, from holding
// connections. http.Server.ReadTimeout would do so too, and cancel calls that run
// longer than it.
func timely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(bodyTime)) == nil {
				r.Body = &timed{r.Body, control}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// timed is a body that lifts the deadline of its connection when it is whole.
type timed struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{}) // the connection may be gone
	}
	return n, err
}
