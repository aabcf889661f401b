/* y = gelu(x + bias), where gelu(v) = v * (1 + erf(v / sqrt(2))) / 2, for n rows of m. Sums and GELU are computed in float,
   and rounded once. Each thread takes one column, whose bias it reads once, and every gridDim.y-th row. */

/* A float16 is its bits here: a half would need a header of CUDA's, which machines that only run kernels lack. */
struct float16 { unsigned short bits; };

static __device__ float read(float x) { return x; }
static __device__ void write(float *y, float v) { *y = v; }

static __device__ float read(float16 x)
{
	float v;
	asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x.bits));
	return v;
}

static __device__ void write(float16 *y, float v)
{
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y->bits) : "f"(v));
}

template <typename T>
static __device__ void each(T *y, const T *x, const T *bias, long long n, long long m)
{
	long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (column >= m)
		return;
	float b = read(bias[column]);
	for (long long row = blockIdx.y; row < n; row += gridDim.y) {
		float v = read(x[row * m + column]) + b;
		write(&y[row * m + column], 0.5f * v * (1.0f + erff(v * 0.70710678118654752f)));
	}
}

extern "C" __global__ void bias_gelu_float32(float *y, const float *x, const float *bias, long long n, long long m)
{
	each(y, x, bias, n, m);
}

extern "C" __global__ void bias_gelu_float16(float16 *y, const float16 *x, const float16 *bias, long long n, long long m)
{
	each(y, x, bias, n, m);
}
