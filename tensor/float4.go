package tensor

// Float4E2M1FNx2 is two Float4E2M1FN in one byte, lane 0 in the lower half: CUDA's __nv_fp4x2_e2m1 and torch's
// float4_e2m1fn_x2, the dtype float4_e2m1fnx2. [2]Float4E2M1FNx2 is float4_e2m1fnx4.
type Float4E2M1FNx2 uint8

// Float4E2M1FNx2From packs two values.
func Float4E2M1FNx2From(lane0, lane1 Float4E2M1FN) Float4E2M1FNx2 {
	return Float4E2M1FNx2(lane0&0xf | lane1<<4)
}

// Lanes returns the two values.
func (x Float4E2M1FNx2) Lanes() [2]Float4E2M1FN {
	return [2]Float4E2M1FN{Float4E2M1FN(x & 0xf), Float4E2M1FN(x >> 4)}
}
