package profile

import (
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Request is one HTTP request. It has no query: addresses of a storage are secrets.
type Request struct {
	Task      int           `json:"task"`      // -1 when no task waits for it
	Operation string        `json:"operation"` // that the task waits for
	Name      string        `json:"name"`      // "POST /projects"
	Status    int           `json:"status"`    // 0 without an answer
	Start     time.Duration `json:"start"`
	Sending   time.Duration `json:"sending"` // until the last byte had left
	Length    time.Duration `json:"length"`  // until the answer was read
	Sent      int64         `json:"sent"`    // bytes
}

func (q *Request) took() time.Duration { return q.Length }

// Requests lays a recorder over what sends the requests to the platform at base.
func (r *Recorder) Requests(base string, below http.RoundTripper) http.RoundTripper {
	platform, _ := url.Parse(base) // nil names nothing
	return &requests{r, platform, below}
}

type requests struct {
	r        *Recorder
	platform *url.URL
	below    http.RoundTripper
}

func (s *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	task, _ := request.Context().Value(trackKey{}).(*Track)
	q := s.r.request(task, request.Method+" "+s.name(request.URL))
	if request.Body != nil && request.Body != http.NoBody {
		copied := *request
		copied.Body = &leaving{ReadCloser: request.Body, request: q, task: task, r: s.r}
		request = &copied
	}
	answer, err := s.below.RoundTrip(request)
	if err != nil {
		s.r.answered(q)
		return nil, err
	}
	q.Status = answer.StatusCode
	answer.Body = &arriving{ReadCloser: answer.Body, over: sync.OnceFunc(func() { s.r.answered(q) })}
	return answer, nil
}

func (r *Recorder) request(task *Track, name string) *Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := &Request{Task: -1, Name: name, Start: r.now()}
	if task != nil {
		q.Task = task.number
		if task.open != nil {
			q.Operation = task.open.Name
		}
	}
	return q
}

// name returns the path of a request to the platform, and the host of any other.
func (s *requests) name(u *url.URL) string {
	if s.platform != nil && u.Host == s.platform.Host {
		return u.Path
	}
	return u.Host
}

func (s *requests) CloseIdleConnections() {
	if below, ok := s.below.(interface{ CloseIdleConnections() }); ok {
		below.CloseIdleConnections()
	}
}

func (r *Recorder) answered(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.Length = r.now() - q.Start
	r.requests.add(q)
}

// leaving is a body on its way: from the first to the last of its bytes, or until
// sending is given up.
type leaving struct {
	io.ReadCloser
	request *Request
	task    *Track // nil when none waits
	r       *Recorder

	begun, over bool
}

func (b *leaving) Read(p []byte) (int, error) {
	b.count(0, nil)
	n, err := b.ReadCloser.Read(p)
	b.count(n, err)
	return n, err
}

func (b *leaving) Close() error {
	b.count(0, io.EOF)
	return b.ReadCloser.Close()
}

func (b *leaving) count(n int, ended error) {
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	b.request.Sent += int64(n)
	switch {
	case ended == nil && !b.begun && !b.over:
		b.begun = true
		b.send(+1)
	case ended != nil && b.begun && !b.over:
		b.send(-1)
		b.request.Sending = b.r.now() - b.request.Start
	}
	b.over = b.over || ended != nil
}

func (b *leaving) send(delta int) {
	if b.task != nil {
		b.task.send(delta)
	}
}

// arriving is the body of an answer.
type arriving struct {
	io.ReadCloser
	over func()
}

func (b *arriving) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.over()
	}
	return n, err
}

func (b *arriving) Close() error {
	b.over()
	return b.ReadCloser.Close()
}
