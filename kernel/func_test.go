package kernel_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// Every invalid declaration, and its error.
func TestBadDeclarations(t *testing.T) {
	of := func(p kernel.Param) kernel.Func {
		p.Name = "x"
		return kernel.Func{Name: "f", Params: []kernel.Param{p}, Do: nothing}
	}
	tensor := func(change func(*kernel.Param)) kernel.Func {
		p := kernel.Param{Kind: kernel.KindTensor}
		change(&p)
		return of(p)
	}
	integer := kernel.Param{Name: "a", Kind: kernel.KindInt}
	var letters, names []kernel.Extent
	for i := range 17 {
		letters = append(letters, kernel.Extent('a'+rune(i)))
		names = append(names, kernel.Extent("n"))
	}
	var variables []kernel.Param
	for i := range 9 {
		name := string('a' + rune(i))
		variables = append(variables, kernel.Param{Name: name, Kind: kernel.KindTensor, Var: name})
	}
	for _, c := range []struct {
		f    kernel.Func
		want string
	}{
		{kernel.Func{Name: "a b", Do: nothing}, `a b: name: want a Python identifier, got "a b"`},
		{kernel.Func{Name: "lambda", Do: nothing}, `lambda: name: want a Python identifier, got "lambda"`},
		{kernel.Func{Name: "", Do: nothing}, `: name: want a Python identifier, got ""`},
		{kernel.Func{Name: "f"}, "f: Do: want a function, got nil"},
		{kernel.Func{Name: "f", Do: nothing, Params: []kernel.Param{integer, integer}}, `f: parameter 1: want a Python identifier of its own, got "a"`},
		{kernel.Func{Name: "f", Do: nothing, Params: []kernel.Param{{Name: "1", Kind: kernel.KindInt}}}, `f: parameter 0: want a Python identifier of its own, got "1"`},
		{kernel.Func{Name: "f", Do: nothing, Params: []kernel.Param{{Name: "a", Kind: kernel.KindInt, Default: kernel.DefaultOf(1)}, {Name: "b", Kind: kernel.KindInt}}},
			"f: parameter b: want a default, as a before it has one"},
		{kernel.Func{Name: "f", Do: nothing, Params: variables}, "f: parameter i: want at most 8 type variables"},
		{kernel.Func{Name: "f", Do: nothing, Results: []kernel.Param{{Kind: 99}}}, "f: result: want a kind, got 99"},
		{of(kernel.Param{}), "f: parameter x: want a kind, got 0"},
		{of(kernel.Param{Kind: kernel.KindValue + 1}), "f: parameter x: want a kind, got 13"},
		{of(kernel.Param{Kind: kernel.KindList}), "f: parameter x: want a list of bool, int, float, str, tensor or object"},
		{of(kernel.Param{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindBytes}}), "f: parameter x: want a list of bool, int, float, str, tensor or object, got one of bytes"},
		{of(kernel.Param{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt, Optional: true}}), "f: parameter x: want a list of bool, int, float, str, tensor or object, got one of int"},
		{of(kernel.Param{Kind: kernel.KindInt, Bits: 7}), "f: parameter x: want an int of 8, 16, 32 or 64 bits, got 7"},
		{of(kernel.Param{Kind: kernel.KindInt, Default: kernel.DefaultOf("a")}), `f: parameter x: default "a": want int, got str`},
		{of(kernel.Param{Kind: kernel.KindInt, Bits: 8, Default: kernel.DefaultOf(200)}), "f: parameter x: default 200: want int8, got 200"},
		{of(kernel.Param{Kind: kernel.KindInt, Default: kernel.DefaultOf(nil)}), "f: parameter x: default None: want an optional parameter"},
		{of(kernel.Param{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}, Default: kernel.DefaultOf([]string{"a"})}), `f: parameter x: default ("a",): element 0: want int, got str`},
		{tensor(func(p *kernel.Param) { p.Default = kernel.DefaultOf(1) }), "f: parameter x: default 1: want any[...] on cpu, got int"},
		{tensor(func(p *kernel.Param) { p.DTypes = []dlpack.DType{{Code: 2, Bits: 33, Lanes: 1}} }), "f: parameter x: dtype float: want 16, 32, 64 or 128 bits, got 33"},
		{tensor(func(p *kernel.Param) { p.Order = "A" }), `f: parameter x: order "A": want C, F or none`},
		{tensor(func(p *kernel.Param) { p.Device = "gpu" }), `f: parameter x: device "gpu": want one of`},
		{tensor(func(p *kernel.Param) { p.Convert, p.Mutable = true, true }), "f: parameter x: convert: want a tensor that is not mutable, in memory of the host"},
		{tensor(func(p *kernel.Param) { p.Convert, p.Device = true, "any" }), "f: parameter x: convert: want a tensor that is not mutable"},
		{tensor(func(p *kernel.Param) { p.Shape = []kernel.Extent{"...", "..."} }), "f: parameter x: shape [... ...]: want ... once"},
		{tensor(func(p *kernel.Param) { p.Shape = []kernel.Extent{"-1"} }), `f: parameter x: shape [-1]: want numbers, at most 16 names, *, or ..., got "-1"`},
		{tensor(func(p *kernel.Param) { p.Shape = []kernel.Extent{"01"} }), `got "01"`},
		{tensor(func(p *kernel.Param) { p.Shape = letters }), `got "q"`},
	} {
		_, err := kernel.Prepare(c.f)
		if err == nil || dlpack.KindOf(err) != kernel.ValueError || !strings.Contains(dlpack.MessageOf(err), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := kernel.Prepare(kernel.Func{Name: "_Az09", Do: nothing}); err != nil {
		t.Errorf("a name of all that names are of: got %v", err)
	}
	if _, err := kernel.Prepare(tensor(func(p *kernel.Param) { p.Shape = names })); err != nil {
		t.Errorf("one name in 17 places: got %v", err)
	}
}

func TestKindNames(t *testing.T) {
	for kind, want := range map[kernel.Kind]string{0: "kind 0", kernel.KindBool: "bool", kernel.KindList: "list", kernel.KindValue + 1: "kind 13", 99: "kind 99"} {
		if kind.String() != want {
			t.Errorf("got %q, want %q", kind, want)
		}
	}
}

func TestBadDefaults(t *testing.T) {
	zero := 0.0
	for _, value := range []any{zero / zero, "\xff", struct{}{}, []any{1}, uint8(3), complex(1, 1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", value)
				}
			}()
			kernel.DefaultOf(value)
		}()
	}
}

// Register accepts the same declarations as Prepare, each name once.
func TestRegister(t *testing.T) {
	before := len(kernel.Funcs())
	f := kernel.Func{Name: fmt.Sprintf("registered%d", before), Do: nothing} // a new name for each run of the tests
	kernel.Register(f)
	if all := kernel.Funcs(); len(all) != before+1 || all[before].Name != f.Name {
		t.Fatalf("got %v", all)
	}
	if err := newCall().of(kernel.Funcs()[before], newHost()); err != nil {
		t.Error(err)
	}
	for _, again := range []kernel.Func{f, {Name: "no one"}} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(p.(string), "kernel: "+again.Name+": ") {
					t.Errorf("%s: got %v", again.Name, p)
				}
			}()
			kernel.Register(again)
		}()
	}
}

// full declares one parameter of every kind.
func full() kernel.Func {
	x := kernel.Param{Name: "x", Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32, dlpack.Float64}, Var: "T",
		Shape: []kernel.Extent{"n", "3", "*", "..."}, Order: kernel.RowMajor}
	y := kernel.Param{Name: "y", Kind: kernel.KindTensor, Device: "any", Mutable: true, MayOverlap: true, Optional: true}
	return kernel.Func{
		Name: "full", Doc: "full does it all.\n\nTwice \\ \"\"\"", HoldGIL: true,
		Params: []kernel.Param{x, y,
			{Name: "z", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor, Convert: true, Shape: []kernel.Extent{}}},
			{Name: "a", Kind: kernel.KindInt, Bits: 8, Unsigned: true, Default: kernel.DefaultOf(3)},
			{Name: "b", Kind: kernel.KindString, Optional: true, Default: kernel.DefaultOf(nil)},
			{Name: "c", Kind: kernel.KindCallable, Optional: true, Default: kernel.DefaultOf(nil)},
			{Name: "d", Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindFloat}, Default: kernel.DefaultOf([]float64{1})},
			{Name: "e", Kind: kernel.KindDType, Default: kernel.DefaultOf(dlpack.Float32)},
		},
		Results: []kernel.Param{
			{Name: "mean", Kind: kernel.KindTensor, DTypes: []dlpack.DType{dlpack.Float32, dlpack.Float64}, Var: "T", Shape: []kernel.Extent{"n"}},
			{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindInt}},
		},
		Do: nothing,
	}
}

// The JSON is a contract with hosts: the names of fields, and the omitted ones.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(prepare(t, full()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"full","doc":"full does it all.\n\nTwice \\ \"\"\"","params":[` +
		`{"name":"x","kind":"tensor","dtypes":["float32","float64"],"var":"T","shape":["n","3","*","..."],"order":"C"},` +
		`{"name":"y","kind":"tensor","optional":true,"shape":null,"device":"any","mutable":true,"may_overlap":true},` +
		`{"name":"z","kind":"list","elem":{"kind":"tensor","shape":[],"convert":true},"shape":null},` +
		`{"name":"a","kind":"int","default":"3","bits":8,"unsigned":true,"shape":null},` +
		`{"name":"b","kind":"str","optional":true,"default":"None","shape":null},` +
		`{"name":"c","kind":"callable","optional":true,"default":"None","shape":null},` +
		`{"name":"d","kind":"list","elem":{"kind":"float","shape":null},"default":"(1.0,)","shape":null},` +
		`{"name":"e","kind":"dtype","default":"\"float32\"","shape":null}],` +
		`"results":[{"name":"mean","kind":"tensor","dtypes":["float32","float64"],"var":"T","shape":["n"]},` +
		`{"kind":"list","elem":{"kind":"int","shape":null},"shape":null}],"hold_gil":true}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}

	var back kernel.Func
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != want {
		t.Errorf("back: got %s, %v", again, err)
	}
	if !reflect.DeepEqual(back.Params[0], full().Params[0]) || back.Signature() != prepare(t, full()).Signature() {
		t.Errorf("back: got %+v", back)
	}
	for _, bad := range []string{`{"params":[{"kind":"tensors"}]}`, `{"params":[{"dtypes":["float33"]}]}`, `{"params":[{"dtypes":"float32"}]}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestSignature(t *testing.T) {
	f := full()
	equal(t, "signature", f.Signature(), `(x, y, z, a=3, b=None, c=None, d=(1.0,), e="float32", *, like=None, out=None)`)
	plain := kernel.Func{Name: "f", Results: []kernel.Param{anyInt}}
	equal(t, "without tensors", plain.Signature(), "()")
	equal(t, "stub", plain.Stub(), "def f() -> int:\n    \"\"\"f()\n\n    Returns:\n        int\"\"\"\n")
}

// Like= and out= are arguments, too.
func TestDocstringWithoutParams(t *testing.T) {
	f := prepare(t, kernel.Func{Results: []kernel.Param{tensorOf("", float32s, "n")}, Do: nothing})
	if !strings.HasPrefix(f.Docstring(), "f(*, like=None, out=None)\n\nArgs:\n    like: ") {
		t.Errorf("got %s", f.Docstring())
	}
	if got := prepare(t, kernel.Func{Do: nothing}).Docstring(); got != "f()" {
		t.Errorf("got %s", got)
	}
	one := prepare(t, kernel.Func{Params: []kernel.Param{{Name: "a", Kind: kernel.KindBool}}, Do: nothing})
	if !strings.HasPrefix(one.Docstring(), "f(a)\n\nArgs:\n    a: bool") {
		t.Errorf("got %s", one.Docstring())
	}
}

func TestDocstring(t *testing.T) {
	f := full()
	equal(t, "docstring", f.Docstring(), `full(x, y, z, a=3, b=None, c=None, d=(1.0,), e="float32", *, like=None, out=None)

full does it all.

Twice \ """

Args:
    x: float32|float64[n, 3, *, ...] on cpu, C-contiguous; dtype T
    y: any[...] on any device, writable or None
    z: list of any[] on cpu; other dtypes are converted
    a: uint8; default 3
    b: str or None; default None
    c: callable or None; default None
    d: list of float; default (1.0,)
    e: dtype; default "float32"
    like: the type, or an object, of the framework in which tensors come back
    out: the tensor that takes the result

Returns:
    mean: float32|float64[n] on cpu; dtype T
    list of int

Raises:
    TypeError: an argument has another kind, dtype or rank
    ValueError: a number is out of range, extents disagree, or a written tensor overlaps another
    OverflowError: an integer is beyond 64 bits, or for a float beyond its range
    BufferError: memory is on another device, read-only, or has another layout`)
}

// A list of tensors has no out=.
func TestNoOutForLists(t *testing.T) {
	list := kernel.Param{Kind: kernel.KindList, Elem: &kernel.Param{Kind: kernel.KindTensor}}
	f := kernel.Func{Name: "split", Results: []kernel.Param{{Kind: kernel.KindTensor}, list}}
	for _, text := range []string{f.Signature(), f.Docstring(), f.Stub()} {
		if !strings.Contains(text, "like") || strings.Contains(text, "out") {
			t.Errorf("got %s", text)
		}
	}
}

func TestLikeIsChecked(t *testing.T) {
	do := func(*kernel.Call) error { return nil }
	for like, results := range map[string][]kernel.Param{"mxnet": {{Kind: kernel.KindTensor}}, "numpy": {{Kind: kernel.KindInt}}} {
		if _, err := kernel.Prepare(kernel.Func{Name: "f", Results: results, Like: like, Do: do}); err == nil || !strings.Contains(err.Error(), "like: want") {
			t.Errorf("%s: got %v", like, err)
		}
	}
}

func TestStub(t *testing.T) {
	f := full()
	stub := f.Stub()
	want := "def full(x: TensorLike, y: TensorLike | None, z: Sequence[TensorLike], a: int = 3, b: str | None = None, c: Callable[..., Any] | None = None, " +
		"d: Sequence[float] | TensorLike = (1.0,), e: Any = \"float32\", *, like: Any = None, out: Any = None) -> tuple[Any, list[int]]:\n    \"\"\"full("
	if !strings.HasPrefix(stub, want) || strings.Contains(stub, "    \n") {
		t.Errorf("got\n%s\nwant\n%s", stub, want)
	}
	quoted := kernel.Func{Name: "f", Doc: `Says "hi"`}
	equal(t, "quotes at the end", quoted.Stub(), "def f() -> None:\n    \"\"\"f()\n\n    Says \"hi\" \"\"\"\n")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no Python to read it")
	}
	check := exec.Command(python, "-c", "import ast, sys; print(ast.get_docstring(ast.parse(sys.stdin.read()).body[-1]))")
	check.Stdin = strings.NewReader(kernel.StubImports + stub)
	doc, err := check.CombinedOutput()
	if err != nil || strings.TrimSpace(string(doc)) != f.Docstring() {
		t.Errorf("Python reads %v\n%s", err, doc)
	}
}
