package bpe

import "fmt"

// FormatError reports a tokenizer's description that is not one, or not one of byte-level byte-pair encoding.
//
//godlpack:export base=ValueError
type FormatError struct {
	Reason string
}

func (e *FormatError) Error() string { return "cannot use this tokenizer: " + e.Reason }

func badFormat(format string, args ...any) error { return &FormatError{fmt.Sprintf(format, args...)} }

// UnknownTokenError reports a number that no token has.
//
//godlpack:export base=IndexError
type UnknownTokenError struct {
	ID int64
}

func (e *UnknownTokenError) Error() string {
	return fmt.Sprintf("%d: want the number of a token", e.ID)
}
