//! The class and the functions of bench/objects.py.

use pyo3::prelude::*;
use std::collections::HashMap;

#[pyclass]
struct Point {
    #[pyo3(get, set)]
    x: i64,
}

#[pymethods]
impl Point {
    #[new]
    fn new() -> Point {
        Point { x: 3 }
    }

    fn touch(&self, py: Python<'_>) {
        py.detach(|| ())
    }
}

#[pyclass(name = "upto")]
struct Upto {
    n: i64,
    i: i64,
}

#[pymethods]
impl Upto {
    #[new]
    fn new(n: i64) -> Upto {
        Upto { n, i: 0 }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> Option<i64> {
        if self.i >= self.n {
            return None;
        }
        self.i += 1;
        Some(self.i - 1)
    }
}

#[pyfunction]
fn nop0(py: Python<'_>) {
    py.detach(|| ())
}

#[pyfunction]
fn count(words: Vec<String>) -> usize {
    words.len()
}

#[pyfunction]
fn words(n: usize) -> Vec<String> {
    vec!["a word of some letters".to_string(); n]
}

#[pyfunction]
fn same(counts: HashMap<String, i64>) -> HashMap<String, i64> {
    counts
}

#[pymodule]
fn pyo3_peer(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Point>()?;
    m.add_class::<Upto>()?;
    m.add_function(wrap_pyfunction!(nop0, m)?)?;
    m.add_function(wrap_pyfunction!(count, m)?)?;
    m.add_function(wrap_pyfunction!(words, m)?)?;
    m.add_function(wrap_pyfunction!(same, m)?)
}
