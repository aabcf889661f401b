package vecindex

import "fmt"

// DimensionError reports vectors of another length than the index has.
//
//godlpack:export base=ValueError
type DimensionError struct {
	Want, Got int
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("want vectors of %d elements, got %d: an index holds vectors of one length", e.Want, e.Got)
}

// DuplicateIDError reports an id that is in the index already, or twice among those to add.
//
//godlpack:export base=ValueError
type DuplicateIDError struct {
	ID int64
}

func (e *DuplicateIDError) Error() string {
	return fmt.Sprintf("id %d: want an id that no other vector has", e.ID)
}

// ElementError reports an element that is NaN, or so large that distances would overflow.
//
//godlpack:export base=ValueError
type ElementError struct {
	Row, Column int
	Value       float64
}

func (e *ElementError) Error() string {
	return fmt.Sprintf("row %d, column %d: want -%g to %[3]g, got %g", e.Row, e.Column, mostElement, e.Value)
}

// FormatError reports a file, or a pickle, that is not a whole index as save writes it.
//
//godlpack:export base=ValueError
type FormatError struct {
	Reason string
}

func (e *FormatError) Error() string { return "not a whole index: " + e.Reason }

func badFormat(format string, args ...any) error { return &FormatError{fmt.Sprintf(format, args...)} }
