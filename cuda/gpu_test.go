package cuda

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// scalePTX is scale(float *x, float a, int n), for GPUs of machines without NVRTC.
const scalePTX = `.version 6.3
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .f32 %f<4>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x];
	ld.param.f32 %f1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	mul.f32 %f3, %f2, %f1;
	st.global.f32 [%rd4], %f3;
done:
	ret;
}
`

// TestRealDevice runs on a GPU if GODLPACK_TEST_GPU=1.
func TestRealDevice(t *testing.T) {
	if os.Getenv("GODLPACK_TEST_GPU") == "" {
		t.Skip("only with GODLPACK_TEST_GPU=1, and a CUDA GPU")
	}
	driver := must(newDriver(must(load("", "libcuda.so.1"))(t)))(t)
	dev := must(driver.Device(0))(t)
	t.Logf("%s, pools: %t", must(dev.Name())(t), dev.HasPools())
	s := closing(t, must(dev.NewStream())(t))
	mod := closing(t, must(dev.LoadModule([]byte(scalePTX)))(t))
	scale := must(mod.Function("scale"))(t)
	for _, allocate := range []func(int) (*Memory, error){
		dev.Alloc, dev.AllocManaged, func(n int) (*Memory, error) { return dev.AllocOn(s, n) },
	} {
		m := must(allocate(12))(t)
		if where := must(driver.Locate(uintptr(m.start)))(t); where != m.DLPack() {
			t.Errorf("located on %s, want %s", where, m.DLPack())
		}
		check(t, s.Upload(m.start, floats(1, 2, 3)))
		check(t, scale.Launch(s, Grid{Blocks: [3]int{1, 1, 1}, Threads: [3]int{32, 1, 1}}, m, float32(10), int32(3)))
		got := make([]byte, 12)
		check(t, s.Fetch(got, m.start))
		if !bytes.Equal(got, floats(10, 20, 30)) {
			t.Errorf("got % x", got)
		}
		check(t, m.CloseOn(s))
	}
	if _, err := dev.LoadModule([]byte("rubbish")); !errors.Is(err, &Error{Result: InvalidPTX}) {
		t.Errorf("got %v, want CUDA_ERROR_INVALID_PTX", err)
	}
	if _, err := dev.Alloc(1 << 50); !errors.Is(err, &Error{Result: OutOfMemory}) {
		t.Errorf("got %v, want CUDA_ERROR_OUT_OF_MEMORY", err)
	}
	strided(t, dev)
}
