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

// plainForms has the form of each of Go's basic types that gopy can pass to Python.
//
// What bind carries: the C type by which gopy passes a plain Go value (Var.CType), which tells booleans, integers,
// floats and text from each other. What it does not carry, and go/types does: the width (bind passes a Go int, 64 bits,
// as a C int), tensors and type parameters (it leaves generic functions out without a word), positions for messages.
var plainForms = sync.OnceValue(func() map[types.BasicKind]Form {
	forms := map[types.BasicKind]Form{}
	for _, v := range bindVars(types.Bool, types.Int, types.Int8, types.Int16, types.Int32, types.Int64, types.Uint,
		types.Uint8, types.Uint16, types.Uint32, types.Uint64, types.Float32, types.Float64, types.String) {
		forms[v.GoType().(*types.Basic).Kind()] = formOfC(v.CType())
	}
	return forms
})

// formOfC reads the C type of a value that is passed by value.
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

// bindVars asks gopy about a function that has parameters of these types.
func bindVars(kinds ...types.BasicKind) []*bind.Var {
	pkg := types.NewPackage("plain", "plain")
	var params []*types.Var
	for i, kind := range kinds {
		params = append(params, types.NewParam(token.NoPos, pkg, fmt.Sprint("v", i), types.Typ[kind]))
	}
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false)
	fn := types.NewFunc(token.NoPos, pkg, "Plain", sig)
	pkg.Scope().Insert(fn)
	defer silence()() // bind says on standard output what it does
	bound, err := bind.NewPackage(pkg, &doc.Package{})
	if err != nil {
		panic(err) // the package is our own
	}
	object, _ := bound.Lookup(fn)
	return object.(*bind.Func).Signature().Params()
}

// silence sends standard output nowhere until the returned function is called.
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
