/* What the C files of this package share. C is used for four reasons only, and each function names its own: (a) CPython offers
   something only as a macro or struct, (b) a C function pointer is needed, (c) the code repeats a decision that Go made, and
   must not pay for a crossing, (d) it loops so that Go is entered once. Everything else is Go. */
#ifndef GODLPACK_CORE_H
#define GODLPACK_CORE_H

#include "exchange.h"
#include "function.h"
#include "pin.h"
#include "runtime.h"
#include "signals.h"
#include "storage.h"
#include "tensor.h"
#include "variables.h"
#include "version.h"

#endif
