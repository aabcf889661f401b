package source

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"godlpack/cmd/godlpack/module"
	"godlpack/kernel"
)

// Generated is the name of the file with the glue, in the author's package.
const Generated = "zz_godlpack.go"

// A Package is an author's package.
type Package struct {
	Path    string // its import path
	Name    string // in its package clause
	Folder  string
	Types   *types.Package
	Classes []*Class
	Errors  []*Exception
	Funcs   []*Func       // by their place in the source; those of classes after the others
	State   *kernel.State // its state between calls; nil if a call in a forked process needs no warning or error

	Warnings Problems // do not stop the build

	fork string // of the state directive
}

// loaded is the mode of go/packages. Packages that the author's imports are loaded as export data, which the build needs, too.
const loaded = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// Load reads the package in a folder of a module. It ignores an existing glue file, which may be for other functions. The
// error is Problems, or the go command's.
func Load(m *module.Module, folder string) (*Package, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	config := &packages.Config{Mode: loaded, Dir: folder, BuildFlags: m.Flags, Fset: token.NewFileSet(), Env: module.Environment()}
	if config.Overlay, err = overlay(m, folder); err != nil {
		return nil, err
	}
	list, err := packages.Load(config, ".")
	if err != nil {
		return nil, errors.New(m.Explain(err.Error()))
	}
	if len(list) == 0 { // go/packages reports no error then
		return nil, m.List(folder)
	}
	if len(list[0].Errors) > 0 {
		if err := m.List(folder); err != nil && slices.ContainsFunc(list[0].Errors, isImport) {
			return nil, err
		}
		return nil, errors.New(missing.ReplaceAllString(m.Explain(compileErrors(list[0], folder).Error()), `$0: write import "godlpack/$1"`))
	}
	pkg, err := read(list[0], folder)
	if err != nil {
		return nil, err
	}
	return pkg, pkg.below(config, list[0])
}

// below reads the author's other packages that this one imports, for its state and its warnings.
func (pkg *Package) below(config *packages.Config, root *packages.Package) error {
	all, err := own(config, root)
	if err != nil {
		return err
	}
	pkg.State, pkg.Warnings = stateOf(all, root, pkg.fork), append(pkg.Warnings, exportsLeftOut(root)...)
	for _, p := range all {
		if p.PkgPath != root.PkgPath {
			pkg.Warnings = append(pkg.Warnings, exportsElsewhere(p, root)...)
		}
	}
	return nil
}

// isImport reports whether an error is that of a failed import, for which go/packages gives no reason.
func isImport(e packages.Error) bool { return strings.Contains(e.Msg, "could not import") }

// overlay returns the texts of files that replace others, or missing ones, for go/packages.
func overlay(m *module.Module, folder string) (map[string][]byte, error) {
	all := withoutGlue(folder)
	if all == nil {
		all = map[string][]byte{}
	}
	for name, real := range m.Overlay {
		text, err := os.ReadFile(real)
		if err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, nil
}

// withoutGlue replaces a glue file by its package clause.
func withoutGlue(folder string) map[string][]byte {
	glue := filepath.Join(folder, Generated)
	text, err := os.ReadFile(glue)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "package ") {
			return map[string][]byte{glue: []byte(line)}
		}
	}
	return nil
}

// compileErrors returns the errors that stop the compilation of a package: the Go compiler's if it ran, else the go
// command's.
func compileErrors(p *packages.Package, folder string) error {
	var all []error
	for _, e := range p.Errors {
		e.Msg = withoutTypeSet(e.Msg)
		if compiler := compilerLines(e.Msg, folder); compiler != nil {
			return errors.New(strings.Join(compiler, "\n"))
		}
		place, _, _ := strings.Cut(e.Pos, ":")
		if place == "" || place == "-" {
			all = append(all, errors.New(e.Msg))
		} else {
			all = append(all, errors.New(relative(place)+strings.TrimPrefix(e.Pos, place)+": "+e.Msg))
		}
	}
	return errors.Join(all...)
}

// noElement matches the compiler's error about a type that tensors cannot have, with its list of all that they can have.
var noElement = regexp.MustCompile(`(\S+) does not satisfy tensor\.Element .*`)

// withoutTypeSet replaces such an error by a hint on what to use instead.
func withoutTypeSet(text string) string {
	return noElement.ReplaceAllStringFunc(text, func(line string) string {
		given, _, _ := strings.Cut(line, " ")
		if given == "bool" {
			return "bool is not an element type of tensors: use tensor.Bool8"
		}
		return given + " is not an element type of tensors: use one that tensor.Element lists"
	})
}

// missing matches the compiler's error about an undefined name that is one of godlpack's packages.
var missing = regexp.MustCompile(`(?m)undefined: (tensor|kernel|dlpack|cuda|tvmffi)$`)

// compilerLines returns the lines of the compiler's output without the "# path" of each package; nil if text is not the
// compiler's output. The compiler's file names, which are relative to the folder, become relative to the working folder.
func compilerLines(text, folder string) []string {
	if !strings.HasPrefix(text, "# ") {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		file, rest, ok := strings.Cut(line, ":")
		if ok && strings.HasSuffix(file, ".go") && strings.HasPrefix(file, ".") {
			line = relative(filepath.Join(folder, file)) + ":" + rest
		}
		if !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// read returns a Package with the functions of a package that compiles.
func read(p *packages.Package, folder string) (*Package, error) {
	r := &reader{reporter: reporter{fset: p.Fset}, info: p.TypesInfo, pkg: p.Types, taken: map[string]token.Position{}, read: map[*ast.CommentGroup]bool{}, docs: map[types.Object]string{}, shifts: map[types.Type]bool{}}
	pkg := &Package{Path: p.PkgPath, Name: p.Name, Folder: folder, Types: p.Types}
	r.readTypes(p.Syntax)
	for _, file := range p.Syntax {
		r.slips(file)
		r.packageMarks(file)
	}
	for _, file := range p.Syntax {
		pkg.Funcs = append(pkg.Funcs, r.functions(file)...)
	}
	pkg.Funcs = append(pkg.Funcs, r.members(p.Syntax)...)
	r.checkBases()
	r.twice(pkg.Funcs)
	pkg.Classes, pkg.Errors, pkg.fork = r.classes, r.errors, r.fork
	pkg.addHidden()
	for _, c := range pkg.Classes {
		c.Makers = pkg.makers(c)
	}
	pkg.Warnings = r.unusedEnums()
	switch {
	case p.Name == "main":
		return nil, errors.New(relative(folder) + ": package main cannot be imported, so its functions cannot be called: " +
			"give the package another name, and leave func main to the build")
	case len(r.found) > 0:
		return nil, r.found
	case len(pkg.Funcs)+len(pkg.Classes) == 0:
		return nil, errors.New(relative(folder) + ": no function and no type is exported: write //godlpack:export above each that Python is to use")
	}
	return pkg, nil
}

// addHidden adds the functions that give elements to sequences, and take those of iterators and the results of tasks, each after
// the one that has the sequence, the iterator or the task; their classes; and the methods of these.
func (pkg *Package) addHidden() {
	var all []*Func
	async := slices.ContainsFunc(pkg.Funcs, func(fn *Func) bool { return fn.Decl.Async })
	if async {
		all = taskFuncs() // package kernel registers them with their classes, before all others
	}
	iterators, sequences := async, false
	for _, fn := range pkg.Funcs {
		all = append(all, fn)
		for i, v := range fn.Args {
			if v.Form == Sequence {
				sequences = true
				all = append(all, fn.Feed(i))
			}
		}
		switch {
		case fn.Iterator != nil:
			iterators = true
			all = append(all, fn.Next())
		case fn.IsTask():
			all = append(all, fn.Take())
		}
	}
	pkg.Classes = slices.Clip(pkg.Classes)
	if sequences {
		pkg.Classes = append(pkg.Classes, sequenceClass)
	}
	if iterators {
		pkg.Classes = append(pkg.Classes, iteratorClass)
	}
	if async {
		pkg.Classes = append(pkg.Classes, taskClass, notifierClass)
	}
	pkg.Funcs = all
}

// makers returns the functions that return objects of a class.
func (pkg *Package) makers(c *Class) []string {
	var names []string
	for _, fn := range pkg.Funcs {
		if fn.Class == nil && slices.ContainsFunc(fn.Results, func(v Value) bool { return v.Form == Object && v.Classes[0] == c }) {
			names = append(names, fn.Decl.Name)
		}
	}
	return names
}

// functions returns the functions of one file.
func (r *reader) functions(file *ast.File) []*Func {
	var all []*Func
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
			if f, ok := r.function(fn); ok {
				all = append(all, f)
			}
		}
	}
	return all
}
