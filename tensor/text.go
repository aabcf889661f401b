package tensor

import (
	"fmt"
	"strings"

	"godlpack/dlpack"
)

// TextOptions are the options of Text. The zero value is NumPy's default.
type TextOptions struct {
	Threshold int64 // arrays of more elements are summarized; 0 means 1000, below 0 always
	EdgeItems int   // the elements shown at each end of an axis of such an array; 0 means 3
	Width     int   // in columns; longer rows are wrapped; 0 means 75, below 0 never
	Indent    int   // columns before the text on its first line, such as those of "Tensor("
}

// Text returns the values of t in nested brackets, as NumPy prints an array: "[[0., 1.],\n [2., 3.]]". Each float is the
// shortest decimal that reads back as the same bits. Memory that the host cannot read gives "<...>". See Load for padded.
func Text(t *dlpack.Tensor, padded bool, opt TextOptions) string {
	size, err := t.Size()
	switch {
	case err != nil:
		return "<" + dlpack.MessageOf(err) + ">"
	case size == 0:
		return "[]"
	case !t.Device.Type.HostReadable():
		return fmt.Sprintf("<%d elements on %v>", size, t.Device)
	}
	opt.defaults()
	p := printer{tensor: t, padded: padded, shape: t.ShapeSlice(), strides: strides(t), edge: int64(opt.EdgeItems)}
	p.summary = size > opt.Threshold
	var shown []Scalar
	p.visit(0, 0, func(s Scalar) { shown = append(shown, s) })
	p.cell = newColumn(t.DType, shown, len(p.shape) == 0)
	return p.axis(0, 0, opt.Indent+1, opt.Width)
}

func (opt *TextOptions) defaults() {
	if opt.Threshold == 0 {
		opt.Threshold = 1000
	}
	if opt.EdgeItems <= 0 {
		opt.EdgeItems = 3
	}
	if opt.Width == 0 {
		opt.Width = 75
	} else if opt.Width < 0 {
		opt.Width = 1 << 30
	}
}

// A printer formats one array.
type printer struct {
	tensor         *dlpack.Tensor
	padded         bool
	shape, strides []int64
	summary        bool
	edge           int64
	cell           column
}

// indices calls f with the indices of an axis to be shown, and with -1 for the gap.
func (p *printer) indices(axis int, f func(int64)) {
	n := p.shape[axis]
	if !p.summary || n <= 2*p.edge {
		for i := range n {
			f(i)
		}
		return
	}
	for i := range p.edge {
		f(i)
	}
	f(-1)
	for i := n - p.edge; i < n; i++ {
		f(i)
	}
}

// visit calls f with all elements to be shown.
func (p *printer) visit(axis int, offset int64, f func(Scalar)) {
	if axis == len(p.shape) {
		f(Load(p.tensor, p.padded, offset))
		return
	}
	p.indices(axis, func(i int64) {
		if i >= 0 {
			p.visit(axis+1, offset+i*p.strides[axis], f)
		}
	})
}

// axis formats the elements at offset from that axis on. Indent is the column of its elements, width the limit of a line.
func (p *printer) axis(axis int, offset int64, indent, width int) string {
	switch len(p.shape) - axis {
	case 0:
		return p.cell(Load(p.tensor, p.padded, offset))
	case 1:
		return p.row(offset, indent, width)
	}
	separator := "," + strings.Repeat("\n", len(p.shape)-axis-1) + strings.Repeat(" ", indent)
	var parts []string
	p.indices(axis, func(i int64) {
		if i < 0 {
			parts = append(parts, "...")
			return
		}
		parts = append(parts, p.axis(axis+1, offset+i*p.strides[axis], indent+1, width-1))
	})
	return "[" + strings.Join(parts, separator) + "]"
}

// row formats the last axis, on several lines if it is longer than width.
func (p *printer) row(offset int64, indent, width int) string {
	var text strings.Builder
	text.WriteByte('[')
	column := indent
	last := len(p.shape) - 1
	first := true
	p.indices(last, func(i int64) {
		word := "..."
		if i >= 0 {
			word = p.cell(Load(p.tensor, p.padded, offset+i*p.strides[last]))
		}
		switch space := column + len(", "); {
		case first:
		case space+len(word) > width-1: // one column is for the bracket or comma that follows
			text.WriteString(",\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			text.WriteString(", ")
			column = space
		}
		first = false
		text.WriteString(word)
		column += len(word)
	})
	text.WriteByte(']')
	return text.String()
}
