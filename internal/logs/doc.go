// Package logs keeps what a library logs, by log/slog and by package log, until the host takes it: a library in C has no thread
// in which it may enter the host by itself. Nothing is kept before the host starts it.
//
//	logs.Start(level, wake)      // from now on the records come here
//	slog.Info("built", "n", 3)   // on any goroutine
//	text := logs.Take(0, 256)    // JSON, by the host
//
// Package library offers Start and Take to hosts as the functions in Funcs, and reports Pending after each call.
package logs
