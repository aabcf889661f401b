// Package hints has functions that take and return types that cannot be exchanged with Python.
package hints

import (
	"context"
	"image"
	"io"
	"iter"
	"math/big"
	"time"
	"unsafe"

	"godlpack/kernel"
	"godlpack/tensor"
)

type record struct{ a, b int }

type callback func(int) bool

//godlpack:export
func Take0(x map[string]int) {}

//godlpack:export
func Give0() (x map[string]int) { return }

//godlpack:export
func Take1(x record) {}

//godlpack:export
func Give1() (x record) { return }

//godlpack:export
func Take2(x *record) {}

//godlpack:export
func Give2() (x *record) { return }

//godlpack:export
func Take3(x chan int) {}

//godlpack:export
func Give3() (x chan int) { return }

//godlpack:export
func Take4(x any) {}

//godlpack:export
func Give4() (x any) { return }

//godlpack:export
func Take5(x interface{ Area() float64 }) {}

//godlpack:export
func Give5() (x interface{ Area() float64 }) { return }

//godlpack:export
func Take6(x func(int) bool) {}

//godlpack:export
func Give6() (x func(int) bool) { return }

//godlpack:export
func Take7(x *func()) {}

//godlpack:export
func Give7() (x *func()) { return }

//godlpack:export
func Take8(x callback) {}

//godlpack:export
func Give8() (x callback) { return }

//godlpack:export
func Take9(x complex128) {}

//godlpack:export
func Give9() (x complex128) { return }

//godlpack:export
func Take10(x **int) {}

//godlpack:export
func Give10() (x **int) { return }

//godlpack:export
func Take11(x time.Time) {}

//godlpack:export
func Give11() (x time.Time) { return }

//godlpack:export
func Take12(x *time.Time) {}

//godlpack:export
func Give12() (x *time.Time) { return }

//godlpack:export
func Take13(x []time.Time) {}

//godlpack:export
func Give13() (x []time.Time) { return }

//godlpack:export
func Take14(x iter.Seq[int]) {}

//godlpack:export
func Give14() (x iter.Seq[int]) { return }

//godlpack:export
func Take15(x iter.Seq2[int, int]) {}

//godlpack:export
func Give15() (x iter.Seq2[int, int]) { return }

//godlpack:export
func Take16(x context.Context) {}

//godlpack:export
func Give16() (x context.Context) { return }

//godlpack:export
func Take17(x error) {}

//godlpack:export
func Take18(x unsafe.Pointer) {}

//godlpack:export
func Give18() (x unsafe.Pointer) { return }

//godlpack:export
func Take19(x uintptr) {}

//godlpack:export
func Give19() (x uintptr) { return }

//godlpack:export
func Take20(x [3]float64) {}

//godlpack:export
func Give20() (x [3]float64) { return }

//godlpack:export
func Take21(x [2]record) {}

//godlpack:export
func Give21() (x [2]record) { return }

//godlpack:export
func Take22(x [][]float64) {}

//godlpack:export
func Give22() (x [][]float64) { return }

//godlpack:export
func Take23(x [][]byte) {}

//godlpack:export
func Give23() (x [][]byte) { return }

//godlpack:export
func Take24(x [][]record) {}

//godlpack:export
func Give24() (x [][]record) { return }

//godlpack:export
func Take25(x []any) {}

//godlpack:export
func Give25() (x []any) { return }

//godlpack:export
func Take26(x []complex64) {}

//godlpack:export
func Give26() (x []complex64) { return }

//godlpack:export
func Take27(x *[]*int) {}

//godlpack:export
func Give27() (x *[]*int) { return }

//godlpack:export
func Take28(x *big.Int) {}

//godlpack:export
func Give28() (x *big.Int) { return }

//godlpack:export
func Take29(x io.Reader) {}

//godlpack:export
func Give29() (x io.Reader) { return }

//godlpack:export
func Take30(x image.Image) {}

//godlpack:export
func Give30() (x image.Image) { return }

//godlpack:export
func Take31(x kernel.Ctx) {}

//godlpack:export
func Give31() (x kernel.Ctx) { return }

//godlpack:export
func Take32(x **kernel.Ctx) {}

//godlpack:export
func Give32() (x **kernel.Ctx) { return }

//godlpack:export
func Take33(x []kernel.Callable) {}

//godlpack:export
func Give33() (x []kernel.Callable) { return }

//godlpack:export
func Take34(x []tensor.DeviceOf[int8]) {}

//godlpack:export
func Give34() (x []tensor.DeviceOf[int8]) { return }

//godlpack:export
func TakeNumber[T int8 | float64](x tensor.Of[T], n T) T { return n }

//godlpack:export
//godlpack:arg f default=None
//godlpack:arg x default=nil
func TakeNone(f kernel.Callable, x tensor.Of[int8]) kernel.Callable { return f }
