package httpcore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"transect/client/fault"
)

// Names are the users' names of the settings in hints.
type Names struct{ Proxy, Address, CACert string }

// Failure returns the fault for an exchange with a host that gave no complete answer. It contains no path and
// no query, which may be secrets.
func Failure(host string, err error, names Names) fault.Fault {
	var f fault.Fault = &fault.ConnectionError{}
	var dns *net.DNSError
	hint, what := "check the network and run again", "the connection to %s broke"
	switch {
	case isProxyError(err):
		hint = "check the proxy: " + names.Proxy
	case isRecordError(err):
		hint = "the host does not speak TLS there; does its address start with http://?"
	case isExpired(err):
		hint = fmt.Sprintf("check this machine's clock, which says %s: it decides whether a certificate is valid",
			time.Now().Format("2006-01-02 15:04"))
	case IsTrustError(err):
		hint = "if the host uses a certificate of its own, name the file that vouches for it with " + names.CACert
	case IsTimeout(err):
		f = &fault.TimeoutError{}
	case errors.As(err, &dns):
		hint = "check the address" + names.Address + " and the network"
	case NeverConnected(err):
		hint = "check the address" + names.Address + ", and that its service runs"
	}
	if NeverConnected(err) {
		what = "cannot reach %s"
	} else if IsTimeout(err) {
		what = "%s does not respond"
	}
	*f.Facts() = fault.Info{Message: fmt.Sprintf(what, host), Hint: hint, Cause: reason(err)}
	return f
}

func reason(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ended before the answer was complete")
	}
	return fault.Reason(err)
}

// NeverConnected reports whether no byte of the request can have been sent.
func NeverConnected(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || isProxyError(err) || IsTrustError(err)
}

func isProxyError(err error) bool {
	var op *net.OpError
	var refused *ProxyRefusal
	return errors.As(err, &refused) || errors.As(err, &op) && op.Op == "proxyconnect"
}

// IsTrustError reports whether TLS negotiation failed, which retrying does not cure.
func IsTrustError(err error) bool {
	var cert *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &cert) || errors.As(err, &alert) || isRecordError(err)
}

// isExpired reports whether a certificate is not valid at present.
func isExpired(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired
}

func isRecordError(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record)
}

// IsTimeout reports whether err is a network time-out or a stall.
func IsTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
