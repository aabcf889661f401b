package source

import (
	"fmt"
	"go/doc"
	"go/token"
	"go/types"
	"os"
	"strings"
	"sync"

	"github.com/go-python/gopy/bind"
)

// plainForms maps each of Go's basic types that gopy can pass to Python to its form.
//
// gopy's bind gives the C type by which gopy passes a plain Go value (Var.CType), which distinguishes booleans, integers,
// floats and strings. go/types gives the rest: the width (bind passes a Go int, 64 bits, as a C int), tensors and type
// parameters (bind silently omits generic functions), and positions for messages.
var plainForms = sync.OnceValue(func() map[types.BasicKind]Form {
	forms := map[types.BasicKind]Form{}
	for _, v := range bindVars(types.Bool, types.Int, types.Int8, types.Int16, types.Int32, types.Int64, types.Uint,
		types.Uint8, types.Uint16, types.Uint32, types.Uint64, types.Float32, types.Float64, types.String) {
		forms[v.GoType().(*types.Basic).Kind()] = formOfC(v.CType())
	}
	return forms
})

// formOfC returns the form for gopy's C type of a plain value.
func formOfC(c string) Form {
	switch {
	case c == "bool":
		return Bool
	case strings.Contains(c, "int"): // int, unsigned int, uint8_t
		return Int
	case c == "char*":
		return String
	}
	return Float // float, double
}

// bindVars returns gopy's description of parameters of these types.
func bindVars(kinds ...types.BasicKind) []*bind.Var {
	pkg := types.NewPackage("plain", "plain")
	var params []*types.Var
	for i, kind := range kinds {
		params = append(params, types.NewParam(token.NoPos, pkg, fmt.Sprint("v", i), types.Typ[kind]))
	}
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false)
	fn := types.NewFunc(token.NoPos, pkg, "Plain", sig)
	pkg.Scope().Insert(fn)
	defer silence()() // bind writes its progress to standard output
	bound, err := bind.NewPackage(pkg, &doc.Package{})
	if err != nil {
		panic(err) // the package is our own
	}
	object, _ := bound.Lookup(fn)
	return object.(*bind.Func).Signature().Params()
}

// silence discards standard output until the returned function is called.
func silence() (restore func()) {
	stdout := os.Stdout
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	os.Stdout = nowhere
	return func() {
		os.Stdout = stdout
		nowhere.Close()
	}
}
