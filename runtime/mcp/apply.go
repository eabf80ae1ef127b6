package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"transect/client/human"
	"transect/runtime"
	"transect/runtime/plan"
)

// planID matches the names of plans.
var planID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^plan-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(-[0-9]{1,4})?$`)
})

// consent is the name of the question about applying a plan.
const consent = "consent"

// apply applies a plan that a person approved in this call.
func (s *server) apply(ctx context.Context, c *call, in planName) (string, result, error) {
	p, sum, err := s.load(in.Plan)
	if err != nil {
		return "", result{}, err
	}
	byHand := fmt.Sprintf("a person can apply it in a shell: transect apply %s", s.fileOf(p.Name()))
	if !s.Apply {
		return "", result{}, fmt.Errorf("this server was started without --allow apply: %s", byHand)
	}
	if initialized := c.Session.InitializeParams(); initialized != nil &&
		(initialized.Capabilities == nil || initialized.Capabilities.Elicitation == nil) {
		return "", result{}, fmt.Errorf("this client cannot ask a person (elicitation): %s", byHand)
	}
	answer, answered := c.Params.InputResponses[consent].(*mcp.ElicitResult)
	if !answered {
		s.ask(c, p, sum)
		return "", result{Plan: p.Name()}, nil
	}
	if err := s.agreed(answer, p, sum); err != nil {
		return "", result{Plan: p.Name()}, err
	}
	return s.carryOut(ctx, c, p)
}

// ask makes the client prompt the person with the plan.
func (s *server) ask(c *call, p *plan.Plan, sum string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown[p.Name()] = sum
	where := make([]string, len(p.Platforms))
	for i, login := range p.Platforms {
		where[i] = login.URL
	}
	message := fmt.Sprintf("%s asks to carry out this plan on %s:\n\n%s\nThe whole plan: %s", c.asker,
		human.Line(strings.Join(where, ", ")), printed(p), s.fileOf(p.Name()))
	c.prompts = mcp.InputRequestMap{consent: &mcp.ElicitParams{Mode: "form", Message: message,
		RequestedSchema: &jsonschema.Schema{Type: "object", Required: []string{"agree"},
			Properties: map[string]*jsonschema.Schema{
				"agree": {Type: "boolean", Title: "Carry this out", Description: "exactly this is written to the platform"}}}}}
}

// agreed reports why a plan is not approved: one question, one answer, one plan.
func (s *server) agreed(answer *mcp.ElicitResult, p *plan.Plan, sum string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown[p.Name()]
	delete(s.shown, p.Name())
	switch {
	case shown != sum:
		return errors.New("this plan was not shown to the person: nothing was sent; apply again")
	case answer.Action != "accept" || answer.Content["agree"] != true:
		return errors.New("the person did not agree: nothing was sent")
	}
	return nil
}

// carryOut starts a process that outlives the session: its output goes to a file.
func (s *server) carryOut(ctx context.Context, c *call, p *plan.Plan) (string, result, error) {
	log := strings.TrimSuffix(s.fileOf(p.Name()), ".plan") + ".log"
	run, _ := s.prepare(c.asker, slices.Concat([]string{"apply"}, s.Run, []string{s.fileOf(p.Name())})...)
	run.cmd.Stdout, run.cmd.Stderr, run.agreed = nil, nil, true
	run.cmd.Env = append(run.cmd.Env, "TRANSECT_LOG_FILE="+log)
	run.output = func() string { return human.Visible(tailOf(log)) }
	run.answer = func() (string, result) {
		r := result{State: "done", ExitCode: run.cmd.ProcessState.ExitCode(), Plan: p.Name()}
		if _, err := os.Stat(s.fileOf(p.Rest())); r.ExitCode == runtime.ExitPlanned && err == nil {
			r.Plan = p.Rest()
			return run.output() + "the rest is planned: apply " + r.Plan + "\n", r
		}
		return run.output(), r
	}
	if err := s.begin(p.Name(), run); err != nil {
		return "", result{Plan: p.Name()}, err
	}
	return s.wait(ctx, p.Name(), run)
}

// tailOf returns the end of a file, from the beginning of a line.
func tailOf(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, maxAnswer)
	size, _ := f.Seek(0, 2)
	n, _ := f.ReadAt(text, max(0, size-maxAnswer))
	if size <= maxAnswer {
		return string(text[:n])
	}
	_, whole, _ := strings.Cut(string(text[:n]), "\n")
	return "… " + human.Size(size-int64(len(whole))) + " before this\n" + whole
}

// printed formats a plan for people.
func printed(p *plan.Plan) string {
	var b strings.Builder
	p.Print(&b)
	return b.String()
}
