// Package luaoracle runs Lua programs by Debian's lua5.1 and by this project's
// interpreter, and compares what they print and how they end. It also makes random
// programs, and shrinks those that differ. For tests only.
package luaoracle

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

//go:embed driver.lua
var driver string

//go:embed batch.lua
var batch string

// TooLong stands for the output of a program that ran too long by lua5.1.
const TooLong = "too long"

var errTooLong = errors.New(TooLong)

const endOfProgram = "\x01\x02\x01\n"

// Mode says what code is.
type Mode string

// A Case may be an expression list, whose values are shown.
const (
	Program Mode = "program"
	Case    Mode = "case"
)

// Reference runs programs by lua5.1 and returns what each wrote. dir is the
// working folder.
func Reference(dir string, mode Mode, programs []string) ([]string, error) {
	outputs := make([]string, 0, len(programs))
	for len(outputs) < len(programs) {
		left := programs[len(outputs):]
		left = left[:min(len(left), 1000)]
		got, err := referenceBatch(dir, mode, left)
		outputs = append(outputs, got...)
		switch {
		case err == errTooLong && mode == Program:
			outputs = append(outputs, TooLong)
		case err != nil: // the program after these ended it
			return nil, fmt.Errorf("%w\nof the program:\n%s", err, left[len(got)])
		}
	}
	return outputs, nil
}

func referenceBatch(dir string, mode Mode, programs []string) ([]string, error) {
	folder, err := os.MkdirTemp("", "luaoracle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var all bytes.Buffer
	for _, program := range programs {
		fmt.Fprintf(&all, "%d\n%s", len(program), program)
	}
	files := map[string][]byte{"programs": all.Bytes(), "driver.lua": []byte(driver), "batch.lua": []byte(batch)}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second+time.Duration(len(programs)-1)*60*time.Millisecond)
	defer cancel()
	// A program that grew without end would take the memory of the machine.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4000000; exec lua5.1 "$@"`, "lua5.1",
		filepath.Join(folder, "batch.lua"), filepath.Join(folder, "programs"), filepath.Join(folder, "driver.lua"), string(mode))
	var out, complaints bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaints
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LUA_INIT=", "TZ=UTC")
	err = cmd.Run()
	outputs := strings.Split(out.String(), endOfProgram)
	outputs = outputs[:len(outputs)-1]
	if ctx.Err() != nil {
		return outputs, errTooLong
	}
	if err != nil {
		return outputs, fmt.Errorf("lua5.1, which must be installed: %w\n%s", err, complaints.String())
	}
	return outputs, nil
}

// Ours runs a program in a fresh interpreter and returns what it wrote.
func Ours(dir string, mode Mode, program string) string {
	var out, complaints bytes.Buffer
	in := luastd.New(context.Background(), vm.Options{
		Stdout: &out, Stderr: &complaints, Stdin: strings.NewReader(""), Dir: dir, Args: []string{program, string(mode)},
		Limits: vm.Limits{Instructions: 200_000_000},
	})
	defer in.Close()
	_, err := in.RunString("driver", "local code, case = ... local run = (function() "+driver+" end)() return run(code, case == 'case')")
	if err != nil {
		fmt.Fprintf(&out, "\nthe run ended: %v\n", err)
	}
	return out.String()
}
