package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// ClientCredentials gets access tokens by the client credentials grant of OAuth
// 2.0 (RFC 6749 §4.4) and sends them as Bearer tokens. A token is kept until
// shortly before it ends, or until the upstream refuses it.
type ClientCredentials struct {
	// TokenURL is the token endpoint. It may be at another origin than the
	// upstream: its own credentials go there, and nothing else does.
	TokenURL     *url.URL
	ClientID     Text
	ClientSecret Secret
	Scopes       []string
	// Params are further parameters of the token request, such as audience.
	Params url.Values
	// InBody sends client id and secret in the body of the token request, for
	// servers that do not take them by HTTP Basic (RFC 6749 §2.3.1).
	InBody bool
}

// unknownLife is how long a token is kept whose end the server does not tell.
const unknownLife = time.Hour

// check lists what is wrong with the settings.
func (o *ClientCredentials) check() (faults []error) {
	switch {
	case o.TokenURL == nil || o.TokenURL.Hostname() == "":
		faults = append(faults, errors.New("auth: oauth2: the tokenUrl needs a host"))
	case o.TokenURL.Scheme != "http" && o.TokenURL.Scheme != "https":
		faults = append(faults, errors.New("auth: oauth2: the scheme of the tokenUrl must be http or https"))
	case o.TokenURL.User != nil || o.TokenURL.Fragment != "":
		faults = append(faults, errors.New("auth: oauth2: the tokenUrl must not hold credentials or a fragment"))
	}
	if o.ClientID.Literal == "" && o.ClientID.Secret == nil || o.ClientID.Literal != "" && o.ClientID.Secret != nil {
		faults = append(faults, errors.New("auth: oauth2: the clientId is given once, literally or as a secret"))
	}
	for _, name := range []string{"grant_type", "scope", "client_id", "client_secret"} {
		if o.Params.Has(name) {
			faults = append(faults, fmt.Errorf("auth: oauth2: %s is not for params to set", name))
		}
	}
	return faults
}

// credential gives the credential that access tokens are.
func (o *ClientCredentials) credential() credential {
	d := credential{place: inHeader, name: "Authorization", prefix: "Bearer ", lease: newLease()}
	if o.ClientID.Secret != nil {
		d.refs = append(d.refs, *o.ClientID.Secret)
	}
	d.refs = append(d.refs, o.ClientSecret)
	d.value = func(ctx context.Context, s supply) (string, error) {
		id, idErr := o.ClientID.read(s.read)
		secret, err := s.read(o.ClientSecret)
		if err := errors.Join(idErr, err); err != nil {
			return "", err
		}
		// In the Authorization header both are form-encoded before they are put
		// into base64.
		s.mask(url.QueryEscape(secret))
		s.mask(basic(url.QueryEscape(id), url.QueryEscape(secret)))
		return d.lease.get(ctx, id+"\n"+secret, func() (string, time.Time, error) {
			token, until, err := o.token(ctx, s, id, secret)
			if err != nil {
				return "", until, fmt.Errorf("%s: no access token from %s: %w", o.ClientSecret, o.TokenURL.Host, err)
			}
			return token, until, nil
		})
	}
	return d
}

// token asks for an access token, over the connections of the upstream.
func (o *ClientCredentials) token(ctx context.Context, s supply, id, secret string) (string, time.Time, error) {
	config := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: o.TokenURL.String(),
		Scopes: o.Scopes, EndpointParams: o.Params, AuthStyle: oauth2.AuthStyleInHeader}
	if o.InBody {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	got, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     s.wire,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	if err != nil {
		return "", time.Time{}, said(err)
	}
	if !strings.EqualFold(got.Type(), "Bearer") {
		return "", time.Time{}, fmt.Errorf("the token is of the type %q, and only Bearer is known", got.TokenType)
	}
	if err := usable(got.AccessToken); err != nil {
		return "", time.Time{}, fmt.Errorf("the token cannot be used: %w", err)
	}
	if got.Expiry.IsZero() {
		got.Expiry = time.Now().Add(unknownLife)
	}
	return got.AccessToken, got.Expiry, nil
}

// said gives what helps of an error of the token request, neither masked nor cut.
func said(err error) error {
	var refused *oauth2.RetrieveError
	var transport *url.Error
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return fmt.Errorf("it answered %d %q %q", refused.Response.StatusCode, refused.ErrorCode, refused.ErrorDescription)
	case errors.As(err, &refused):
		return fmt.Errorf("it answered %d", refused.Response.StatusCode)
	case errors.As(err, &transport):
		return errors.New(detail(err))
	}
	return errors.New("its answer holds none")
}
