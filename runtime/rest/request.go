package rest

// HTTP is a finished request.
type HTTP struct {
	Upstream, Method, URL string
	Header                []Header
	Body                  []byte
}

// Header is one header field.
type Header struct{ Name, Value string }
