"""The author's loop: an edit, a build and a call, beside `maturin develop` for the same functions in Rust.

`python -P bench/author.py` needs godlpack installed with the extra build, and cargo and maturin for the peer. It prints the
median seconds of a warm loop, each contestant in turn; both packages are installed editable once, before.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

import projects
from markup import table

GO = """// Package loopgo has the functions of the benchmark.
package loopgo

// Dot returns the inner product of two lists.
//
//godlpack:export
func Dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum + 0
}

// Words counts words.
//
//godlpack:export
func Words(words []string) map[string]int {
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}
	return counts
}
"""
RUST = """use pyo3::prelude::*;
use std::collections::HashMap;

#[pyfunction]
fn dot(x: Vec<f64>, y: Vec<f64>) -> f64 {
    x.iter().zip(&y).map(|(a, b)| a * b).sum::<f64>() + 0.0
}

#[pyfunction]
fn words(words: Vec<String>) -> HashMap<String, i64> {
    let mut counts = HashMap::new();
    for w in words {
        *counts.entry(w).or_insert(0) += 1;
    }
    counts
}

#[pymodule]
fn looprust(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(dot, m)?)?;
    m.add_function(wrap_pyfunction!(words, m)?)
}
"""
CARGO = """[package]
name = "looprust"
version = "0.1.0"
edition = "2021"

[lib]
name = "looprust"
crate-type = ["cdylib"]

[dependencies]
pyo3 = { version = "0.29", features = ["extension-module", "abi3-py311"] }
"""
PROJECT = """[build-system]
requires = ["maturin>=1"]
build-backend = "maturin"

[project]
name = "looprust"
version = "0.1.0"
"""


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")


class Loop:
    """A project, its source, and the command that builds it."""

    def __init__(self, module: str, source: Path, text: str, mark: str, build: list[str], folder: Path):
        self.module, self.source, self.text, self.mark = module, source, text, mark
        self.build, self.folder = build, folder

    def turn(self, number: int) -> float:
        """Seconds from the edit to the result of the new code."""
        edited = self.text.replace(self.mark, self.mark.replace("0", str(number), 1))
        self.source.write_text(edited)
        start = time.perf_counter()
        run(self.build, self.folder)
        code = f"import {self.module}; assert {self.module}.dot([1.0], [2.0]) == {2 + number}"
        run([sys.executable, "-c", code], self.folder)
        return time.perf_counter() - start


def ours(folder: Path) -> Loop:
    tool = str(Path(sys.executable).with_name("godlpack"))
    run([tool, "new", "loopgo"], folder)
    project = folder / "loopgo"
    for old in project.glob("*.go"):
        old.unlink()
    source = project / "loopgo.go"
    source.write_text(GO)
    shutil.rmtree(project / "tests", ignore_errors=True)
    run([tool, "develop"], project)
    return Loop("loopgo", source, GO, "sum + 0", [tool, "build"], project)


def rust(folder: Path, *options: str) -> Loop:
    project = folder / "looprust"
    (project / "src").mkdir(parents=True, exist_ok=True)
    source = project / "src" / "lib.rs"
    source.write_text(RUST)
    (project / "Cargo.toml").write_text(CARGO)
    (project / "pyproject.toml").write_text(PROJECT)
    build = ["maturin", "develop", "-q", *options]
    run(build, project)
    return Loop("looprust", source, RUST, "+ 0.0", build, project)


def main() -> None:
    rounds = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 7)
    os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    with TemporaryDirectory(prefix="godlpack-bench-") as name:
        folder = Path(name)
        loops = {"godlpack build": ours(folder)}
        if shutil.which("cargo") and shutil.which("maturin"):
            loops["maturin develop"] = rust(folder)
        times: dict[str, list[float]] = {which: [] for which in loops}
        for number in range(1, rounds + 1):
            for which, loop in loops.items():
                times[which].append(loop.turn(number))
        first = statistics.median(times["godlpack build"])
        rows = []
        for which, all_of in times.items():
            median = statistics.median(all_of)
            span = f"{min(all_of):.2f} to {max(all_of):.2f}"
            rows.append([f"`{which}`", f"{median:.2f}", span, f"{first / median:.2f}"])
        run([sys.executable, "-m", "pip", "uninstall", "-q", "-y", "loopgo", "looprust"], folder)
    made = table(["build", "s", "rounds", "godlpack's of it"], rows)
    print(made)
    if "--write" in sys.argv:
        projects.write(
            "## The author's loop\n",
            "Seconds from an edit of one file to the result of the new code in a new Python process: the build of an "
            "editable project of two functions, and the import and the call. `python -P bench/author.py --write` "
            "measures the contestants in turn, and writes this section; the median counts.",
            made,
        )


if __name__ == "__main__":
    main()
