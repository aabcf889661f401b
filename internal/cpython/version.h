/* The only definition of godlpack's version: pyproject.toml, the C module and Go read it. */
#ifndef GODLPACK_VERSION
#define GODLPACK_VERSION "0.1.0"
#endif
