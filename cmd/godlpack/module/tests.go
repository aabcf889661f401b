package module

import (
	"os"
	"os/exec"
)

// Test runs the tests of the packages in a folder and below it, with the output of go test. An *exec.ExitError says that one
// failed.
func (m *Module) Test(folder string) error {
	overlay, err := m.writeOverlay("tests.json", m.Overlay)
	if err != nil {
		return err
	}
	arguments := append(append([]string{"test"}, m.Flags...), "-overlay="+overlay, "./...")
	command := exec.Command("go", arguments...)
	command.Dir, command.Env = folder, Environment()
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}
