package vecindex

import (
	"errors"
	"hash/crc32"
	"testing"
)

func TestShortFiles(t *testing.T) {
	data := filled(t, "l2", random(40, 3, 1)).encode()
	for size := range data {
		refused(t, data[:size])
	}
	refused(t, append(data[:len(data):len(data)], 0))
}

func TestChangedBits(t *testing.T) {
	data := filled(t, "l2", random(20, 3, 1)).encode()
	for i := range data {
		data[i] ^= 0x10
		refused(t, data)
		data[i] ^= 0x10
	}
}

func refused(t *testing.T, data []byte) {
	t.Helper()
	var format *FormatError
	if err := new(Index).UnmarshalBinary(data); !errors.As(err, &format) {
		t.Fatalf("%d bytes: got %v, want a FormatError", len(data), err)
	}
}

// FuzzUnmarshal reads changed files whose checksums are right. What is read can be searched.
func FuzzUnmarshal(f *testing.F) {
	for _, n := range []int{0, 1, 40} {
		data := filled(f, "l2", random(n, 2, 1)).encode()
		f.Add(data)
		for i := 0; i < len(data); i += 7 {
			changed := append([]byte(nil), data...)
			changed[i] ^= 0xff
			f.Add(changed)
			changed = append([]byte(nil), data...)
			changed[i]++
			f.Add(changed)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= checksumSize {
			data = append([]byte(nil), data[:len(data)-checksumSize]...)
			data = order.AppendUint32(data, crc32.Checksum(data, table))
		}
		ix := new(Index)
		if ix.UnmarshalBinary(data) != nil {
			return
		}
		if _, _, err := ix.Search(nil, random(3, ix.Dim, 1), 3, 10); err != nil {
			t.Error(err)
		}
		if err := ix.Add(nil, random(20, ix.Dim, 1), nil); err != nil {
			t.Error(err)
		}
	})
}
