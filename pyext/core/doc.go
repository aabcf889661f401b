// Command core is the extension module godlpack._core: built with -buildmode=c-shared, it exports PyInit__core and
// nothing else.
package main
