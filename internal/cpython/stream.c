/* The current stream of each thread and CUDA device. Nothing here enters Go. */
#include <pthread.h>
#include <stdlib.h>

#include "core.h"

/* Each thread's current streams. Not a thread-local variable, for which a process with many copies of this library has no
   room. */
static GD_KEPT pthread_key_t streams_key;

/* gd_stream_exec makes the key of each thread's streams.
   C because: (b), the code that reads the stream has only C.
   Owns: nothing passes; -1 on failure, with MemoryError set.
   Threads: the importing one. */
int gd_stream_exec(void) {
  if (pthread_key_create(&streams_key, free) == 0) return 0;
  PyErr_NoMemory();
  return -1;
}

/* gd_current_stream returns the place of the calling thread's current stream on a CUDA device; 0 there is the default stream.
   NULL if none was ever set and make is false, if there is no memory for one, and for devices beyond the table.
   C because: (b), see gd_stream_exec.
   GIL: not needed.
   Owns: the place is the thread's; the stream belongs to its maker.
   Threads: any, each with its own. */
uintptr_t *gd_current_stream(int32_t device_id, bool make) {
  enum { PLACES = 64 };
  if (device_id < 0 || device_id >= PLACES) return NULL;
  uintptr_t *streams = pthread_getspecific(streams_key);
  if (streams == NULL && make) {
    streams = calloc(PLACES, sizeof *streams);
    if (streams == NULL || pthread_setspecific(streams_key, streams) != 0) return free(streams), NULL;
  }
  return streams == NULL ? NULL : &streams[device_id];
}
