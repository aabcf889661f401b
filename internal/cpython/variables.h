/* Variables, and the copies of this library. After a fork, Go runs in a fresh copy of this library (runtime.c), with a copy of
   every variable here. So each variable declares whose it is. GD_KEPT: the copy takes over the first library's value, which
   never changes once a tensor exists: types, names, and pointers to variables that do change. GD_OWN: each copy has its own,
   and only that copy uses it, or others reach it through a GD_KEPT pointer. */
#ifndef GODLPACK_VARIABLES_H
#define GODLPACK_VARIABLES_H

#define GD_KEPT __attribute__((section("gd_kept")))
#define GD_OWN

/* Of functions: hardly ever called. The compiler moves them away from the others, whose code is then adjacent. */
#define GD_RARE __attribute__((cold))

#endif
