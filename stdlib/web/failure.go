package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"net/url"

	"transect/client/fault"
)

// Basic is the Authorization header of a user with a password.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// failure is the error of an exchange without a whole answer. It names the
// host alone: paths and queries may be secrets.
func failure(parent, ctx context.Context, u *url.URL, err error) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	if f := fault.Find(context.Cause(ctx)); f != nil {
		return f // it was silent
	}
	if fault.Find(err) != nil {
		return err
	}
	var (
		dns    *net.DNSError
		op     *net.OpError
		record tls.RecordHeaderError
		trust  *tls.CertificateVerificationError
		issuer x509.UnknownAuthorityError
		name   x509.HostnameError
	)
	hint := "check the network and run again"
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		hint = "check the proxy: HTTPS_PROXY, HTTP_PROXY, NO_PROXY"
	case errors.As(err, &record):
		hint = "the host does not speak TLS there; does its address start with http://?"
	case errors.As(err, &trust), errors.As(err, &issuer), errors.As(err, &name):
		hint = "if the host uses a certificate of its own, name the file that vouches for it with ca_cert"
	case errors.As(err, &dns):
		hint = "check the address and the network"
	}
	return fault.Hinted(fault.Of(&fault.ConnectionError{}, "cannot get an answer from %s: %w", u.Host, errors.New(Reason(err))), "%s", hint)
}

// Reason is the innermost useful text of a network error, without addresses
// that may hold credentials.
func Reason(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Name + ": " + dns.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		if op.Op == "proxyconnect" {
			return "proxy: " + Reason(op.Err)
		}
		return op.Err.Error()
	}
	var address *url.Error
	if errors.As(err, &address) {
		return address.Err.Error()
	}
	return err.Error()
}
