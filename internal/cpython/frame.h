/* The memory of a call. */
#ifndef GODLPACK_FRAME_H
#define GODLPACK_FRAME_H

#include "call.h"

/* A call with its first arguments. It is in memory of its own, not on the stack: the library's goroutines may use it after a
   greenlet has taken the stack away, or after the call was abandoned. */
typedef struct frame {
  struct frame *next;
  call call;
  record records[FEW];
  TVMValue values[FEW];
  uint64_t flags[FEW];
  int32_t codes[FEW];
  PyObject *objects[FEW];
} frame;

frame *gd_take_frame(void);
void gd_give_frame(frame *f, bool was_left);

#endif
