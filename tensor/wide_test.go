package tensor

import (
	"math"
	"testing"
)

func TestWide(t *testing.T) {
	for _, try := range []struct{ got, want string }{
		{Int128From(-5).String(), "-5"}, {Int128From(math.MinInt64).BigInt().String(), "-9223372036854775808"},
		{Int128{0, math.MinInt64}.String(), "-170141183460469231731687303715884105728"},
		{UInt128{math.MaxUint64, math.MaxUint64}.String(), "340282366920938463463374607431768211455"},
		{UInt128{1, 1}.BigInt().String(), "18446744073709551617"},
		{Float128From(0.5).String(), "0.5"}, {Float128From(math.Inf(-1)).String(), "-inf"},
		{Complex32From(0.1 - 2i).String(), "(0.1-2j)"},
	} {
		if try.got != try.want {
			t.Errorf("got %s, want %s", try.got, try.want)
		}
	}
	if got := Complex32From(0.5 + 70000i).Complex128(); real(got) != 0.5 || !math.IsInf(imag(got), 1) {
		t.Errorf("got %v, want 0.5 and infinity", got)
	}
}

// TestWideLoads compares the Go types with Load, which reads the same memory by its dtype.
func TestWideLoads(t *testing.T) {
	wantLoad(t, []Int128{Int128From(-7), {3, 4}})
	wantLoad(t, []UInt128{{7, 8}, {math.MaxUint64, 0}})
	wantLoad(t, []Float128{Float128From(math.Pi), Float128From(-1e300)})
	wantLoad(t, []Complex32{Complex32From(1 + 2i), Complex32From(-0.25)})
}

func wantLoad[T interface {
	Element
	String() string
}](t *testing.T, data []T) {
	t.Helper()
	v, err := FromSlice(data, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r := v.Record()
	record := r.Tensor()
	for i, x := range data {
		if got := Load(&record, false, int64(i)).Format(record.DType); got != x.String() {
			t.Errorf("%v: got %s, want %s", record.DType, x, got)
		}
	}
}

func TestFloat4Pairs(t *testing.T) {
	data := []Float4E2M1FNx2{Float4E2M1FNx2From(Float4E2M1FNFrom(0.5), Float4E2M1FNFrom(-6)), 0x21}
	v, err := FromSlice(data, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := v.Record()
	record := r.Tensor()
	for i, x := range data {
		want := Load(&record, false, int64(i)).Lanes()
		for lane, got := range x.Lanes() {
			if got.Float64() != want[lane].Float64() {
				t.Errorf("lane %d of %#x: got %v, want %v", lane, x, got, want[lane])
			}
		}
	}
	if Float4E2M1FNx2From(0xf1, 0xf2) != 0x21 {
		t.Error("bits above a lane go into its neighbour")
	}
}
