package main

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// wasRead reports whether the other end of a connection, which is gone, had read
// all that was sent to it: a socket that closes with bytes unread, or gets them
// afterwards, answers with a reset; else the connection is half closed.
func wasRead(c net.Conn) bool {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	read := false
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		read = err == nil && info.State != unix.BPF_TCP_CLOSE
	})
	return read
}

func TestWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(server, client net.Conn)
		want bool
	}{
		"read": {func(server, client net.Conn) {
			server.Write([]byte("answer"))
			client.Read(make([]byte, 6))
			client.Close()
		}, true},
		"waiting in the socket": {func(server, client net.Conn) {
			server.Write([]byte("answer"))
			client.Close()
		}, false},
		"half read": {func(server, client net.Conn) {
			server.Write([]byte("answer"))
			client.Read(make([]byte, 3))
			client.Close()
		}, false},
		"dead before": {func(server, client net.Conn) {
			client.Close()
			server.Write([]byte("answer"))
		}, false},
		"dead before, and known to be": {func(server, client net.Conn) {
			client.Close()
			server.Read(make([]byte, 1))
			server.Write([]byte("answer"))
		}, false},
		"read, the next request cut off": {func(server, client net.Conn) {
			server.Write([]byte("answer"))
			client.Read(make([]byte, 6))
			client.Write([]byte("PUT / HT"))
			client.Close()
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			client, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			c.end(server, client)
			for { // to the end, as a server does
				if _, err := server.Read(make([]byte, 100)); err != nil {
					break
				}
			}
			if got := wasRead(server); got != c.want {
				t.Errorf("read: %v, want %v", got, c.want)
			}
		})
	}
}
