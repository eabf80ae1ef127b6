package number_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	golua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
)

// lua51 runs a program by Lua 5.1 itself.
func lua51(t *testing.T, program string) []string {
	t.Helper()
	cmd := exec.Command("lua5.1", "-")
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("lua5.1, which must be installed: %v\n%s", err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func bitsText(x float64) string {
	if math.IsNaN(x) {
		return fmt.Sprint("nan ", math.Signbit(x))
	}
	return strconv.FormatFloat(x, 'x', -1, 64)
}

// TestNumberText compares how numbers are written.
func TestNumberText(t *testing.T) {
	numbers := []float64{0, 1, -1, 0.1, 1e14, 1e14 - 1, 1e15, 123456789012345, 99999999999999.5, 999999999999995,
		1e-4, 1e-5, 0.00012345678901234567, 3.14159265358979, 1e100, 1.5e300, 5e-324, math.MaxFloat64, 1 << 53, 2.5, 1e21, -1e-10,
		0.99999999999999, 0.999999999999999, 99999999999999, 100000, 123456.789e3}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := math.Float64frombits(random.Uint64())
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		numbers = append(numbers, x, float64(random.Int64N(1e17))/1000, math.Trunc(random.NormFloat64()*1e15), random.Float64())
	}
	var program bytes.Buffer
	for _, x := range numbers {
		fmt.Fprintf(&program, "print(%s)\n", strconv.FormatFloat(x, 'e', -1, 64))
	}
	program.WriteString("print(1/0) print(-1/0) print(0/0) print(-(0/0)) local zero = 0 print(-zero)")
	nan := math.Float64frombits(0x7FF8000000000000)
	numbers = append(numbers, math.Inf(1), math.Inf(-1), math.Copysign(nan, -1), nan, math.Copysign(0, -1))
	for i, want := range lua51(t, program.String()) {
		if got := number.Text(golua.LNumber(numbers[i])); got != want {
			t.Errorf("%v is %s, want %s", numbers[i], got, want)
		}
	}
}

// TestParseNumber compares what texts are numbers, and which.
func TestParseNumber(t *testing.T) {
	texts := []string{"", " ", "0", "-0", "+5", "10", " 10 ", "1e3", "1E-5", "1e+2", " 0x10 ", "0X1F", "-0x10", "+0xa", "0x", "0xg", "0x.8",
		"0x1.8", "0x1p4", "0x1P-2", "0x1p", "0xp1", "0x.p1", ".5", "5.", ".", "-.5", "1e", "1e+", "e5", "1e5.0", "--1", "+-1", "- 1", "1 2", "1_000",
		"0x1_0", "0b1", "0o7", "1f", "1d", "inf", "-inf", "INF", "infinity", "Infinity", "-infinity", "infin", "nan", "-nan", "NaN", "nan()",
		"nan(12)", "nan(0x1f)", "nan(a_b)", "nan(-)", "nan(", "-nan(1)", "inf1", "1e400", "-1e400", "1e-400", "0x1p2000", "12\x0034", "\x0012",
		"1\x00", "\t\n\v\f\r7\t\n\v\f\r", "\xa07", "7\xa0", "9007199254740993", "123456789012345", "1234567890123456", "18446744073709551616",
		"0xffffffffffffffff", "0xfffffffffffffffff", "0x7fffffffffffffff", "1.7976931348623157e308", "4.9e-324", "2.2250738585072011e-308",
		"1..2", "1.2.3", "0x1.2.3", "0x1e5", "0x1e+5", "1e5e5", "00012", "-00012", "08", "1,5", "1'5", "true", "nil", "١", "1 e5", "0 x10",
		"0x 10", "1p4", "0x1p+4", "0x1p4.5", "0x1pf", "0x1p4f", "++1", "+", "-", "+inf", "infinityy", "i", "n", "0.0", "0e0", "0x0"}
	alphabet := " +-.0123456789abefxXpPinI(\n"
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		b := make([]byte, 1+random.IntN(6))
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		texts = append(texts, string(b))
	}
	var program bytes.Buffer
	program.WriteString(`local function show(text)
		local n = tonumber(text)
		if n == nil then print("no number")
		elseif n ~= n then print("nan " .. (tostring(n) == "-nan" and "true" or "false"))
		else print(string.format("%.17g", n)) end
	end
	`)
	for _, text := range texts {
		program.WriteString("show(\"")
		for i := range len(text) {
			fmt.Fprintf(&program, "\\%03d", text[i])
		}
		program.WriteString("\")\n")
	}
	for i, want := range lua51(t, program.String()) {
		got := "no number"
		if n, ok := number.Parse(texts[i]); ok {
			got = bitsText(float64(n))
		}
		if x, err := strconv.ParseFloat(want, 64); err == nil && !math.IsNaN(x) {
			want = bitsText(x)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", texts[i], got, want)
		}
	}
}
