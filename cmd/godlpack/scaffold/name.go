package scaffold

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// CheckName returns an error if a name cannot be that of a project: of its Go package, its Go module and its Python package.
func CheckName(name string) error {
	reason := ""
	switch {
	case !identifier.MatchString(name):
		return fmt.Errorf("%q is not a valid name of a Python package: want a to z, digits and _, such as %s", name, plain(name))
	case token.IsKeyword(name):
		reason = "a keyword of Go"
	case types.Universe.Lookup(name) != nil:
		reason = "a predeclared identifier of Go"
	case slices.Contains(pythonKeywords, name):
		reason = "a keyword of Python"
	case slices.Contains(reserved, name) || strings.HasSuffix(name, "_test"):
		reason = "a name with a special meaning for the go command or Python's tools"
	case slices.Contains(strings.Fields(pythonModules), name):
		reason = "a module of Python itself, which the package would hide"
	case slices.Contains(frameworks, name):
		reason = "a package that yours would hide from programs that use both"
	default:
		return nil
	}
	return fmt.Errorf("%q is %s: choose another name, such as %s", name, reason, Suggest(name))
}

// Suggest returns a name similar to one that is taken.
func Suggest(name string) string { return strings.TrimSuffix(name, "_test") + "_ops" }

var other = regexp.MustCompile(`[^a-z0-9_]+`)

// plain turns a text into a valid name.
func plain(text string) string {
	name := strings.Trim(other.ReplaceAllString(strings.ToLower(text), "_"), "_0123456789")
	if name == "" || CheckName(name) != nil {
		return Suggest("fast")
	}
	return name
}

var (
	pythonKeywords = strings.Fields(`and as assert async await class def del elif except finally from global in is lambda nonlocal not
		or pass raise try while with yield match type`)
	reserved   = strings.Fields("main init all std cmd tool work internal vendor testdata tests test conftest setup build dist")
	frameworks = strings.Fields("godlpack numpy torch jax cupy tvm_ffi pytest pip setuptools hatchling wheel")
)

// pythonModules are the modules of Python's standard library, 3.11 to 3.14, except those that begin with _ or have capitals.
const pythonModules = `
	abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
	bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression
	concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal
	difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
	fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http
	idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma
	mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath
	nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform
	plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri
	random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site
	smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
	stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap
	this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types
	typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml
	xmlrpc zipapp zipfile zipimport zlib zoneinfo
`
