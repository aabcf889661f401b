/* The one place that says which godlpack this is: read by pyproject.toml, the C module and Go. */
#ifndef GODLPACK_VERSION
#define GODLPACK_VERSION "0.1.0"
#endif
