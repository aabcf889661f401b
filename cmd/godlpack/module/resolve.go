package module

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// inline is the prefix of the path of a module that godlpack.load_inline has made from one file.
const inline = "godlpack.inline/"

// resolveAll lets the go command resolve the requirements of a workspace's modules, or of a file's imports. godlpack's own
// requirements are left out in a first attempt, since they are rarely needed.
func (m *Module) resolveAll(folder string, theirs, ours requirements) error {
	foreign, isInline := imports(folder), strings.HasPrefix(theirs.Module.Path, inline)
	if foreign == nil && isInline {
		return nil
	}
	m.Flags = append(m.Flags, "-mod=mod")
	strict := m.Flags
	edit, undo := []string{"mod", "edit"}, []string{"mod", "edit"}
	for _, module := range ours.Require {
		if err := m.stand(listing{path: module.Path}, filepath.Join(m.Scratch, "missing", module.Path), &edit); err != nil {
			return err
		}
		undo = append(undo, "-dropreplace="+module.Path)
	}
	overlay, err := m.writeOverlay("missing.json", m.Overlay)
	if err != nil {
		return err
	}
	m.Flags = append(slices.Clone(strict), "-overlay="+overlay)
	if _, err := run(m.Scratch, append(edit, m.mod())...); err != nil {
		return err
	}
	if m.resolve(folder, foreign) == nil {
		return nil
	}
	m.Flags, m.Overlay = strict, map[string]string{}
	if _, err := run(m.Scratch, append(undo, m.mod())...); err != nil {
		return err
	}
	err = m.resolve(folder, foreign)
	if !isInline {
		return nil // the build will report the error better
	}
	return err
}

// resolve finds the modules of a file without a go.mod of its own, which would list its requirements: the newest versions
// from the proxy, or, if the proxy cannot be reached, those in the module cache.
func (m *Module) resolve(folder string, foreign []string) error {
	list := append(append([]string{"list", "-deps"}, m.Flags...), ".")
	_, err := run(folder, list...)
	if err == nil {
		return nil
	}
	cache, failed := run(folder, "env", "GOMODCACHE")
	proxy := "GOPROXY=file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(cache), "cache", "download"))
	if failed == nil {
		if _, failed = runIn(folder, append(Environment(), proxy, "GONOSUMDB=*"), list...); failed == nil {
			return nil
		}
	}
	return fmt.Errorf("%w\nload_inline takes the newest versions of its imports (%s) from GOPROXY, or those in the module cache; "+
		"for other versions, make a module (`go mod init`, `go get`), and call godlpack.load with its folder", err, strings.Join(foreign, ", "))
}

// imports lists the imports of a folder's files that are neither Go's nor godlpack's.
func imports(folder string) []string {
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	var foreign []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil { // the compiler will report it
			continue
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			first, _, _ := strings.Cut(path, "/")
			if err == nil && strings.Contains(first, ".") && !strings.HasPrefix(path, inline) {
				foreign = append(foreign, path)
			}
		}
	}
	return foreign
}
