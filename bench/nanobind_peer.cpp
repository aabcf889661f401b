// What nanobind makes of an exchange: arguments in, arrays out. Compiled by native.py, beside nanobind's own sources.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

static float memory[24];

// An array over static memory that keeps owner alive, as a view of owner's memory would.
template <typename Framework> static auto over(nb::handle owner) {
  return nb::ndarray<Framework, float>(memory, {2, 3, 4}, owner);
}

NB_MODULE(nanobind_peer, m) {
  m.def("take", [](nb::ndarray<nb::ro>) {}); // read-only, or jax's arrays would be refused
  m.def("tensor", over<nb::array_api>);
  m.def("to_numpy", over<nb::numpy>);
  m.def("to_torch", over<nb::pytorch>);
}
