package history

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// lastSuccess is carried over between runs: alerts are based on its age.
const lastSuccess = "transect_run_last_success_timestamp_seconds"

// Metrics returns the summary in Prometheus' text format, for the textfile collector of the node exporter.
// before is the previous content of the file: it supplies the time of the last success unless this run
// succeeded.
func (s *Summary) Metrics(before []byte) []byte {
	m := &metrics{labels: `script="` + escape(s.Script) + `"`}
	running := s.End == nil
	m.gauge("transect_run_running", "1 while the run is in progress; a killed run leaves it at 1.", flag(running))
	m.gauge("transect_run_start_timestamp_seconds", "When the run started, in Unix time.", unix(s.Started.UnixMilli()))
	success := previous(before, lastSuccess)
	if e := s.End; e != nil {
		if e.ExitCode == 0 {
			success = unix(e.At.UnixMilli())
		}
		m.gauge("transect_run_end_timestamp_seconds", "When the run ended, in Unix time.", unix(e.At.UnixMilli()))
		m.gauge("transect_run_duration_seconds", "How long the run took.", number(e.Seconds))
		m.gauge("transect_run_success", "1 when the exit code is 0.", flag(e.ExitCode == 0))
		m.gauge("transect_run_exit_code", "Exit code of the run.", strconv.Itoa(e.ExitCode))
		m.family("transect_run_items", "Items of work, as counted by the script.")
		m.sample("transect_run_items", `result="done"`, strconv.FormatInt(e.ItemsDone, 10))
		m.sample("transect_run_items", `result="failed"`, strconv.FormatInt(e.ItemsFailed, 10))
		m.family("transect_run_bytes", "Bytes of files transferred.")
		m.sample("transect_run_bytes", `direction="sent"`, strconv.FormatInt(e.Sent, 10))
		m.sample("transect_run_bytes", `direction="received"`, strconv.FormatInt(e.Received, 10))
		if len(e.Operations) > 0 {
			m.family("transect_run_operations", "Calls of platform operations.")
			for _, name := range slices.Sorted(maps.Keys(e.Operations)) {
				calls := e.Operations[name]
				op := `operation="` + escape(name) + `",result=`
				m.sample("transect_run_operations", op+`"ok"`, strconv.FormatInt(calls.Count-calls.Failed, 10))
				m.sample("transect_run_operations", op+`"failed"`, strconv.FormatInt(calls.Failed, 10))
			}
		}
	}
	if success != "" {
		m.gauge(lastSuccess, "When a run last ended with exit code 0, in Unix time.", success)
	}
	return m.Bytes()
}

type metrics struct {
	bytes.Buffer
	labels string // of every sample
}

func (m *metrics) family(name, help string) {
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func (m *metrics) gauge(name, help, value string) {
	m.family(name, help)
	m.sample(name, "", value)
}

func (m *metrics) sample(name, labels, value string) {
	if labels != "" {
		labels = "," + labels
	}
	fmt.Fprintf(m, "%s{%s%s} %s\n", name, m.labels, labels, value)
}

// previous returns the value of a metric in the previous content.
func previous(text []byte, name string) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, name+"{") {
			value := line[strings.LastIndexByte(line, ' ')+1:]
			if _, err := strconv.ParseFloat(value, 64); err == nil {
				return value
			}
		}
	}
	return ""
}

func escape(label string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(label, "?"))
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func unix(milliseconds int64) string { return number(float64(milliseconds) / 1000) }

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
