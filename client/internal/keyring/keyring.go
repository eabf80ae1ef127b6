// Package keyring stores the secrets of logins in the system's keyring: the Secret Service of a
// desktop, Keychain, or the Credential Manager.
package keyring

import (
	"errors"
	"os"
	"os/exec"
	"time"

	ring "github.com/zalando/go-keyring"
)

const service = "transect"

// timeout is how long the keyring may take, because it can prompt to unlock it.
const timeout = time.Minute

// Variable turns the keyring off when it is "off".
const Variable = "TRANSECT_KEYRING"

var (
	errOff  = errors.New("the keyring is turned off with " + Variable)
	errLate = errors.New("the keyring does not answer")
	errNone = errors.New("this session has none, as is common under cron and ssh")
)

// Get returns the secret of an account; "" for none.
func Get(account string) (secret string, err error) {
	err = within(func() (err error) { secret, err = ring.Get(service, account); return err })
	if errors.Is(err, ring.ErrNotFound) {
		return "", nil
	}
	return secret, err
}

// Set stores the secret of an account.
func Set(account, secret string) error {
	return within(func() error { return ring.Set(service, account, secret) })
}

// Delete removes the secret of an account, if any.
func Delete(account string) error {
	err := within(func() error { return ring.Delete(service, account) })
	if errors.Is(err, ring.ErrNotFound) {
		return nil
	}
	return err
}

func within(call func() error) error {
	if os.Getenv(Variable) == "off" {
		return errOff
	}
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		if unstarted := (*exec.Error)(nil); errors.As(err, &unstarted) { // there is no session bus
			return errNone
		}
		return err
	case <-time.After(timeout):
		return errLate
	}
}
