// Package kernel makes Go functions callable by others: it holds a function's declaration, checks each call against it,
// and gives the function its arguments as typed views and values.
package kernel
