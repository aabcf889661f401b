// What nanobind makes of an exchange: arguments in, arrays out. Compiled by native.py, beside nanobind's own sources.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

static float memory[24];

// An array over static memory that keeps owner alive, as a view of owner's memory would.
template <typename Framework>
static auto over(nb::handle owner) {
  return nb::ndarray<Framework, float>(memory, {2, 3, 4}, owner);
}

using Array = nb::ndarray<>;
using unlocked = nb::call_guard<nb::gil_scoped_release>;

static void nop3(Array, Array, Array) {}

static nb::ndarray<nb::numpy, float> new_like(nb::ndarray<const float> x) {
  float *data = new float[x.size()];
  nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<float *>(p); });
  size_t shape[8];
  for (size_t i = 0; i < x.ndim(); i++) shape[i] = x.shape(i);
  return nb::ndarray<nb::numpy, float>(data, x.ndim(), shape, owner);
}

// An object with a number and a method, and functions of texts.
struct Point {
  long x = 3;
  void touch() {}
};

// An iterator over the integers below n.
struct Upto { long n, i = 0; };

using Words = std::vector<std::string>;
using Counts = std::unordered_map<std::string, long>;

NB_MODULE(nanobind_peer, m) {
  m.def("take", [](nb::ndarray<nb::ro>) {});  // read-only, or jax's arrays would be refused
  m.def("tensor", over<nb::array_api>);
  m.def("to_numpy", over<nb::numpy>);
  m.def("to_torch", over<nb::pytorch>);
  m.def("nop3", nop3, unlocked());
  m.def("held3", nop3);
  m.def("new_like", new_like);
  nb::class_<Point>(m, "Point").def(nb::init<>()).def_rw("x", &Point::x).def("touch", &Point::touch, unlocked());
  m.def("nop0", [] {}, unlocked());
  m.def("count", [](const Words &words) { return words.size(); });
  m.def("words", [](size_t n) { return Words(n, "a word of some letters"); });
  nb::class_<Upto>(m, "upto")
      .def(nb::init<long>())
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", [](Upto &u) {
        if (u.i >= u.n) throw nb::stop_iteration();
        return u.i++;
      });
  m.def("same", [](Counts counts) { return counts; });
}
