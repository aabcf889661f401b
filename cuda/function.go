package cuda

// function is the number of a function of the driver.
type function int

// The functions that this package calls, by their numbers ...
const (
	fnInit function = iota
	fnGetErrorName
	fnGetErrorString
	fnDriverGetVersion
	fnDeviceGetCount
	fnDeviceGet
	fnDeviceGetName
	fnDeviceGetAttribute
	fnDeviceTotalMem
	fnPrimaryCtxRetain
	fnPrimaryCtxRelease
	fnCtxPush
	fnCtxPop
	fnCtxSetCurrent
	fnCtxGetCurrent
	fnMemAlloc
	fnMemFree
	fnMemAllocAsync
	fnMemFreeAsync
	fnMemHostAlloc
	fnMemFreeHost
	fnMemAllocManaged
	fnMemGetInfo
	fnMemcpyHtoD
	fnMemcpyDtoH
	fnMemcpyDtoD
	fnMemcpyHtoDAsync
	fnMemcpyDtoHAsync
	fnMemcpyDtoDAsync
	fnMemcpyPeerAsync
	fnMemcpy2DAsync
	fnMemsetD8Async
	fnMemsetD16Async
	fnMemsetD32Async
	fnStreamCreate
	fnStreamDestroy
	fnStreamSynchronize
	fnStreamQuery
	fnStreamWaitEvent
	fnStreamIsCapturing
	fnEventCreate
	fnEventDestroy
	fnEventRecord
	fnEventQuery
	fnEventSynchronize
	fnEventElapsedTime
	fnPointerGetAttribute
	fnModuleLoadDataEx
	fnModuleUnload
	fnModuleGetFunction
	fnLaunchKernel
	functionCount
)

// ... and by the names that libcuda exports. A header calls cuMemAlloc_v2 "cuMemAlloc"; the library has both, and the name
// without a suffix is the oldest.
var names = [functionCount]string{
	fnInit:                "cuInit",
	fnGetErrorName:        "cuGetErrorName",
	fnGetErrorString:      "cuGetErrorString",
	fnDriverGetVersion:    "cuDriverGetVersion",
	fnDeviceGetCount:      "cuDeviceGetCount",
	fnDeviceGet:           "cuDeviceGet",
	fnDeviceGetName:       "cuDeviceGetName",
	fnDeviceGetAttribute:  "cuDeviceGetAttribute",
	fnDeviceTotalMem:      "cuDeviceTotalMem_v2",
	fnPrimaryCtxRetain:    "cuDevicePrimaryCtxRetain",
	fnPrimaryCtxRelease:   "cuDevicePrimaryCtxRelease_v2",
	fnCtxPush:             "cuCtxPushCurrent_v2",
	fnCtxPop:              "cuCtxPopCurrent_v2",
	fnCtxSetCurrent:       "cuCtxSetCurrent",
	fnCtxGetCurrent:       "cuCtxGetCurrent",
	fnMemAlloc:            "cuMemAlloc_v2",
	fnMemFree:             "cuMemFree_v2",
	fnMemAllocAsync:       "cuMemAllocAsync", // CUDA 11.2
	fnMemFreeAsync:        "cuMemFreeAsync",  // CUDA 11.2
	fnMemHostAlloc:        "cuMemHostAlloc",
	fnMemFreeHost:         "cuMemFreeHost",
	fnMemAllocManaged:     "cuMemAllocManaged",
	fnMemGetInfo:          "cuMemGetInfo_v2",
	fnMemcpyHtoD:          "cuMemcpyHtoD_v2",
	fnMemcpyDtoH:          "cuMemcpyDtoH_v2",
	fnMemcpyDtoD:          "cuMemcpyDtoD_v2",
	fnMemcpyHtoDAsync:     "cuMemcpyHtoDAsync_v2",
	fnMemcpyDtoHAsync:     "cuMemcpyDtoHAsync_v2",
	fnMemcpyDtoDAsync:     "cuMemcpyDtoDAsync_v2",
	fnMemcpyPeerAsync:     "cuMemcpyPeerAsync",
	fnMemcpy2DAsync:       "cuMemcpy2DAsync_v2",
	fnMemsetD8Async:       "cuMemsetD8Async",
	fnMemsetD16Async:      "cuMemsetD16Async",
	fnMemsetD32Async:      "cuMemsetD32Async",
	fnStreamCreate:        "cuStreamCreate",
	fnStreamDestroy:       "cuStreamDestroy_v2",
	fnStreamSynchronize:   "cuStreamSynchronize",
	fnStreamQuery:         "cuStreamQuery",
	fnStreamWaitEvent:     "cuStreamWaitEvent",
	fnStreamIsCapturing:   "cuStreamIsCapturing",
	fnEventCreate:         "cuEventCreate",
	fnEventDestroy:        "cuEventDestroy_v2",
	fnEventRecord:         "cuEventRecord",
	fnEventQuery:          "cuEventQuery",
	fnEventSynchronize:    "cuEventSynchronize",
	fnEventElapsedTime:    "cuEventElapsedTime",
	fnPointerGetAttribute: "cuPointerGetAttribute",
	fnModuleLoadDataEx:    "cuModuleLoadDataEx",
	fnModuleUnload:        "cuModuleUnload",
	fnModuleGetFunction:   "cuModuleGetFunction",
	fnLaunchKernel:        "cuLaunchKernel",
}
