package textfeat

import "slices"

// A row is one text's features: columns in ascending order, and their values.
type row struct {
	indices []int32
	values  []float32
}

// A counter makes the rows of several texts, one after the other, with the same buffers.
type counter struct {
	*options
	buffer  []byte
	pieces  pieces
	hits    []uint32 // one for each n-gram: twice its column, and 1 more if it counts as -1
	spare   []uint32 // for sorting them
	indices []int32  // of all rows so far: a row's indices are a part of it
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
	c.sort()
	return c.normalized(c.add())
}

// hit counts an n-gram.
func (c *counter) hit(ngram []byte) {
	h := murmur3(ngram)
	negative := h >> 31
	if negative != 0 {
		h = -h
	}
	if !c.alternateSign {
		negative = 0
	}
	c.hits = append(c.hits, h%uint32(c.nFeatures)<<1|negative)
}

// sort sorts the hits byte by byte, from the lowest byte on: they are evenly distributed numbers, for which this is faster
// than comparisons.
func (c *counter) sort() {
	c.spare = slices.Grow(c.spare[:0], len(c.hits))[:len(c.hits)]
	for shift := 0; (2*uint64(c.nFeatures)-1)>>shift > 0; shift += 8 {
		var places [257]int // where the hits with each byte begin
		for _, hit := range c.hits {
			places[hit>>shift&255+1]++
		}
		for b := range 255 {
			places[b+1] += places[b]
		}
		for _, hit := range c.hits {
			b := hit >> shift & 255
			c.spare[places[b]] = hit
			places[b]++
		}
		c.hits, c.spare = c.spare, c.hits
	}
}

// add sums the sorted hits of each column. Columns in which they cancel each other stay, with a 0.
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

// normalized scales a row to length 1. A row of zeros stays as it is.
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
