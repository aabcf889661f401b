package logs

import (
	"io"
	"log"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
)

// off is the threshold of a library whose records are not taken.
const off = math.MaxInt64

// threshold is the lowest level that is kept.
var threshold atomic.Int64

func init() { threshold.Store(off) }

// installed is what Start replaced, for Stop.
var installed struct {
	sync.Mutex
	logger *slog.Logger // ours; nil: nothing is replaced
	output io.Writer    // ours, of package log
	before struct {
		logger *slog.Logger
		output io.Writer
		flags  int
		level  slog.Level
	}
}

// Start keeps the records of slog's default logger and of package log from this level on. When there are records that no call
// of Take has asked for within some milliseconds, it sends a byte to wake, a socket. A second Start changes
// the level and the file; it does not replace a default logger that the library has set meanwhile.
func Start(level, wake int) {
	installed.Lock()
	defer installed.Unlock()
	queue.wake.Store(int64(wake))
	threshold.Store(int64(level))
	if installed.logger != nil {
		slog.SetLogLoggerLevel(slog.Level(level))
		return
	}
	before := &installed.before
	before.logger, before.output, before.flags = slog.Default(), log.Writer(), log.Flags()
	before.level = slog.SetLogLoggerLevel(slog.Level(level)) // of loggers that were derived from the first default logger
	installed.logger, installed.output = slog.New(&handler{before: before.logger.Handler()}), &output{before.output}
	slog.SetDefault(installed.logger) // also sets an output of package log, without the source of a line
	log.SetOutput(installed.output)
	log.SetFlags(0)
}

// Stop gives the default logger, and package log's output, back to those that had them before Start, unless the library has set
// others since. Records that are kept stay for Take.
func Stop() {
	installed.Lock()
	defer installed.Unlock()
	if installed.logger == nil {
		return
	}
	threshold.Store(off)
	before := &installed.before
	logger, output, flags := slog.Default() == installed.logger, log.Writer(), log.Flags()
	if output == installed.output {
		output = before.output
	}
	if flags == 0 {
		flags = before.flags
	}
	if logger {
		slog.SetDefault(before.logger)
	}
	if logger || output == before.output {
		log.SetOutput(output) // SetDefault may have changed both
		log.SetFlags(flags)
	}
	slog.SetLogLoggerLevel(before.level)
	installed.logger = nil
}
