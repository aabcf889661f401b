package textfeat

import "slices"

// A row is one text's features: columns, which ascend, and what is in them.
type row struct {
	indices []int32
	values  []float32
}

// A counter makes the rows of some texts, one after the other, with the same buffers.
type counter struct {
	*options
	buffer  []byte
	pieces  pieces
	hits    []uint64 // one for each n-gram: twice its column, and 1 more if it counts as -1
	indices []int32  // of the rows so far: rows are parts of it
	values  []float32
}

// count returns a text's row.
func (c *counter) count(text string) row {
	if c.lowercase {
		c.buffer = appendLower(c.buffer[:0], text)
	} else {
		c.buffer = append(c.buffer[:0], text...)
	}
	c.hits = c.hits[:0]
	c.analyze(&c.pieces, c.buffer, c.ngrams[0], c.ngrams[1], c.hit)
	slices.Sort(c.hits)
	return c.normalized(c.add())
}

// hit counts an n-gram.
func (c *counter) hit(ngram []byte) {
	h := int64(int32(murmur3(ngram)))
	negative := uint64(0)
	if h < 0 {
		h = -h
		negative = 1
	}
	if !c.alternateSign {
		negative = 0
	}
	c.hits = append(c.hits, uint64(h)%uint64(c.nFeatures)<<1|negative)
}

// add sums the sorted hits up. Columns in which they cancel each other stay, with a 0.
func (c *counter) add() row {
	from := len(c.indices)
	last := int32(-1)
	for _, hit := range c.hits {
		if column := int32(hit >> 1); column != last {
			c.indices, c.values = append(c.indices, column), append(c.values, 0)
			last = column
		}
		c.values[len(c.values)-1] += 1 - 2*float32(hit&1)
	}
	to := len(c.indices)
	return row{c.indices[from:to:to], c.values[from:to:to]}
}

// normalized scales a row to length 1. One of zeros stays as it is.
func (c *counter) normalized(r row) row {
	length := c.length(r.values)
	if length == 0 || length == 1 {
		return r
	}
	for i, v := range r.values {
		r.values[i] = float32(float64(v) / length)
	}
	return r
}
