package scaffold

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// project contains the files as templates: NAME in a path is the project's name, and .tmpl excludes them from the files of
// this module.
//
//go:embed all:project
var project embed.FS

// Project is the data for the templates.
type Project struct {
	Name    string // of the Go module and of the Python package
	Sources string // the folder of godlpack's own Go packages, for editors; "" if unknown
	Go      string // the Go version in go.mod: "1.26.0"
}

// Write makes the project in a new folder of its name in parent.
func (p Project) Write(parent string) error {
	folder := filepath.Join(parent, p.Name)
	if err := os.Mkdir(folder, 0o777); err != nil {
		if os.IsExist(err) {
			return fmt.Errorf("%s exists already and is not overwritten: choose another name, or move it away", folder)
		}
		return err
	}
	return fs.WalkDir(project, "project", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return p.file(name, folder)
	})
}

// file writes one template's file.
func (p Project) file(name, folder string) error {
	t, err := template.ParseFS(project, name)
	if err != nil {
		return err
	}
	path := strings.TrimPrefix(strings.TrimSuffix(name, ".tmpl"), "project/")
	path = filepath.Join(folder, strings.NewReplacer("NAME", p.Name, "dot-", ".").Replace(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := t.Execute(file, p); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
