/* The records of Arrow's C data interface, as its specification defines them. */
#ifndef GODLPACK_ARROW_H
#define GODLPACK_ARROW_H

#include <stdint.h>

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

_Static_assert(sizeof(struct ArrowSchema) == 72 && sizeof(struct ArrowArray) == 80,
               "the records do not have Arrow's layout");

#endif
