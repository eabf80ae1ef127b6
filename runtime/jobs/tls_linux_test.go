package jobs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.pem, a.key, a.certificate = issue(t, template, nil)
	return a
}

// issue makes a certificate that an authority signs, or itself.
func issue(t *testing.T, template *x509.Certificate, by *authority) ([]byte, *ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, made
}

func keyFile(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func writeFile(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// elsewhere is this machine by an address that is not taken for its own.
const elsewhere = "0.0.0.0"

// A server on another machine must prove who it is, unless the address says
// otherwise, and what to do is said where it does not.
func TestServersAreVerified(t *testing.T) {
	t.Parallel()
	ours, strangers := newAuthority(t), newAuthority(t)
	certificate, key, _ := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "db"}, DNSNames: []string{"db.example.com"}, IPAddresses: []net.IP{net.ParseIP(elsewhere)}}, ours)
	cluster := jobstest.NewCluster(t, jobstest.Server{
		Settings: []string{"ssl=on", "ssl_cert_file={dir}/server.crt", "ssl_key_file={dir}/server.key", "ssl_ca_file={dir}/ca.crt", "hba_file={dir}/hba.conf", "password_encryption=scram-sha-256"},
		Files: map[string][]byte{"server.crt": certificate, "server.key": keyFile(t, key), "ca.crt": ours.pem, "hba.conf": []byte(`
local all postgres trust
hostssl all badge all cert
hostnossl all badge all reject
host all all all scram-sha-256`)}})
	database := cluster.Database(t)
	owner := jobstest.Open(t, jobs.Config{URL: database})
	exec(t, owner, "create role courier login password 'sesame-open' in role pg_read_all_data, pg_write_all_data", "create role badge login in role pg_read_all_data, pg_write_all_data")
	plain := jobstest.NewCluster(t)

	dir := t.TempDir()
	ca, others := writeFile(t, dir, "ca.crt", ours.pem), writeFile(t, dir, "others.crt", strangers.pem)
	badge, badgeKey, _ := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "badge"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ours)
	badgePath, badgeKeyPath := writeFile(t, dir, "badge.crt", badge), writeFile(t, dir, "badge.key", keyFile(t, badgeKey))

	at := func(c *jobstest.Cluster, user, host, options string) string {
		return strings.Replace(c.TCP(database, fmt.Sprintf("%s:%d", host, c.Port)), "postgres@", user+"@", 1) + "?" + options
	}
	const courier = "courier:sesame-open"
	for _, each := range []struct{ what, address, refused, hint string }{
		{"a known authority", at(cluster, courier, elsewhere, "sslrootcert="+ca), "", ""},
		{"encryption alone", at(cluster, courier, elsewhere, "sslmode=require"), "", ""},
		{"no encryption, as was said", at(cluster, courier, elsewhere, "sslmode=disable"), "", ""},
		{"a certificate instead of a password", at(cluster, "badge", elsewhere, "sslrootcert="+ca+"&sslcert="+badgePath+"&sslkey="+badgeKeyPath), "", ""},

		{"an unknown authority", at(cluster, courier, elsewhere, ""), "is not trusted: x509: certificate signed by unknown authority", "sslrootcert=FILE"},
		{"another authority", at(cluster, courier, elsewhere, "sslrootcert="+others), "is not trusted: x509: certificate signed by unknown authority", "sslrootcert=FILE"},
		{"another name", at(cluster, courier, "127.0.0.1", "sslmode=verify-full&sslrootcert="+ca), "is for another name: x509: certificate is valid for 0.0.0.0, not 127.0.0.1", "name the server as its certificate does"},
		{"a server without encryption", at(plain, courier, elsewhere, ""), "the server does not encrypt connections", "sslmode=disable"},
		{"a wrong password", at(cluster, "courier:wrong-sesame", elsewhere, "sslrootcert="+ca), "password authentication failed", "~/.pgpass"},
		{"no client certificate", at(cluster, "badge", elsewhere, "sslrootcert="+ca), "requires a valid client certificate", "sslcert=FILE&sslkey=FILE"},
		{"a user who may not enter without encryption", at(cluster, "badge", elsewhere, "sslmode=disable"), "no encryption", "sslmode=verify-full"},
		{"a missing file", at(cluster, courier, elsewhere, "sslrootcert=/no/such/file"), "open /no/such/file: no such file", ""},
		{"a file that is no certificate", at(cluster, courier, elsewhere, "sslrootcert="+badgeKeyPath), "unable to add CA", ""},
		{"half of a client certificate", at(cluster, courier, elsewhere, "sslcert="+badgePath), `both "sslcert" and "sslkey" are required`, ""},
		{"an unknown mode", at(cluster, courier, elsewhere, "sslmode=full"), "sslmode is invalid", ""},
	} {
		s, err := jobs.Open(t.Context(), jobs.Config{URL: each.address})
		if err == nil {
			var encrypted bool
			err = s.DB().QueryRow("select ssl from pg_stat_ssl where pid = pg_backend_pid()").Scan(&encrypted)
			if err != nil || encrypted == strings.Contains(each.address, "disable") || each.refused != "" || strings.Contains(s.Name(), "sesame") {
				t.Errorf("%s: encrypted %v, %v, %s", each.what, encrypted, err, s.Name())
			}
			s.Close()
			continue
		}
		text, f := fmt.Sprint(err, err), fault.Find(err)
		if each.refused == "" || !strings.Contains(text, each.refused) || !strings.Contains(f.Facts().Hint, each.hint) || strings.Contains(text+f.Facts().Hint, "sesame") {
			t.Errorf("%s: %v (%s)", each.what, err, f.Facts().Hint)
		}
		if fault.Transient(err) {
			t.Errorf("%s: waiting does not mend %v", each.what, err)
		}
	}
}

// Of several servers each is said once.
func TestSeveralServersAway(t *testing.T) {
	t.Parallel()
	_, err := jobs.Open(t.Context(), jobs.Config{URL: "postgres://me:sesame@127.0.0.1:1,127.0.0.1:2/jobs"})
	if err == nil || strings.Count(err.Error(), "connection refused") != 2 || strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "sesame") || !fault.Transient(err) {
		t.Error(err)
	}
}
