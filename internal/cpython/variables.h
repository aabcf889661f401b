/* Variables, and the copies of this library. After a fork, Go runs in a fresh copy of this library (runtime.c), with a copy of
   every variable here. So each variable declares whose it is. KEPT: the copy takes over the value that the first library has,
   which never changes once a tensor exists: types, names, and pointers to what does change. OWN: each copy has its own, and only
   that copy uses it, or others reach it through a KEPT pointer. */
#ifndef GODLPACK_VARIABLES_H
#define GODLPACK_VARIABLES_H

#define GD_KEPT __attribute__((section("gd_kept")))
#define GD_OWN

/* Of functions: hardly ever called. The compiler puts them out of the way of the others, whose code then lies together. */
#define GD_RARE __attribute__((cold))

#endif
