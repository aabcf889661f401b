package exchange

import (
	"godlpack/capsule"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// numpyFastPath is the state of NumPy's fast path: not yet tried, proven, or tried and not proven.
var numpyFastPath struct{ tried, proven bool }

// isArray reports whether x is an array of NumPy and the fast path is proven.
func isArray(x cpython.Object) bool {
	class := cpython.Imported("numpy").FindIn("ndarray")
	defer class.Release()
	return class.Exists() && x.IsInstance(class) && proveNumPy()
}

// proveNumPy turns the fast path on if, on samples of every layout, it reads and makes arrays that agree exactly with NumPy's
// public interface; once for the process.
func proveNumPy() bool {
	if numpyFastPath.tried {
		return numpyFastPath.proven
	}
	numpyFastPath.tried = true
	umath := cpython.Imported("numpy._core._multiarray_umath")
	if !umath.Exists() {
		umath = cpython.Imported("numpy.core._multiarray_umath") // before NumPy 2
	}
	api, class := umath.FindIn("_ARRAY_API"), umath.FindIn("ndarray")
	defer api.Release()
	defer class.Release()
	if !api.Exists() || !class.Exists() || !cpython.EnableNumPy(class, api) {
		numpyFastPath.tried = !cpython.Starved()
		return false
	}
	numpyFastPath.proven = samplesAgree()
	if !numpyFastPath.proven {
		cpython.DisableNumPy()
		numpyFastPath.tried = !cpython.Starved() // if memory ran out, try again later
	}
	return numpyFastPath.proven
}

// samplesAgree converts NumPy's samples to tensors and back by the fast path, and compares the results with the samples by
// NumPy's public interface.
func samplesAgree() bool {
	module, err := cpython.Import("godlpack._numpy")
	if err != nil {
		cpython.ClearError()
		return false
	}
	defer module.Release()
	list, err := module.CallMethod("samples", nil)
	if err != nil {
		cpython.ClearError()
		return false
	}
	defer list.Release()
	samples, err := list.Items()
	if err != nil {
		cpython.ClearError()
		return false
	}
	defer cpython.ReleaseAll(samples)
	for _, x := range samples {
		if !sampleAgrees(module, x) {
			cpython.ClearError()
			return false
		}
	}
	return len(samples) > 0
}

func sampleAgrees(module, x cpython.Object) bool {
	if err := learn(x); err != nil {
		return false
	}
	o := cpython.ImportNumPy(x)
	if !o.Exists() {
		return false
	}
	defer o.Release()
	t, _ := cpython.TensorOf(o)
	made, err := cpython.ToNumPy(t)
	if err != nil || !made.Exists() {
		return false
	}
	defer made.Release()
	verdict, err := module.CallMethod("agree", []cpython.Object{x, o, made})
	if err != nil {
		return false
	}
	defer verdict.Release()
	yes, err := verdict.Truth()
	return yes && err == nil
}

// learn finds an array's dtype and records it for the fast path; one that DLPack does not have is a BufferError (R18, R19).
func learn(x cpython.Object) error {
	dtype, err := x.Attr("dtype")
	if err != nil {
		return err
	}
	defer dtype.Release()
	d, ok, err := DTypeOf(dtype)
	if !ok || err != nil {
		return dlpack.Errorf(dlpack.KindBuffer, "%s: DLPack has no dtype for %s: want numbers or bools in native byte order", x.Type().Name(), dtype.Repr())
	}
	cpython.LearnNumPy(x, d, d.SubByte()) // ml_dtypes gives each int4 and float4 its own byte
	return nil
}

// takeNumPy imports an array by the fast path, and sets the plan for the next one of its type.
func takeNumPy(x cpython.Object, r Request) (capsule.Imported, error) {
	typ := x.Type().Retain() // x's own code may change its class
	defer typ.Release()
	if typ.Has("mask") {
		return capsule.Imported{}, dlpack.Errorf(dlpack.KindBuffer, "%s: the memory of a masked array does not include its mask; use .filled() or .data", typ.Name())
	}
	if err := learn(x); err != nil {
		return capsule.Imported{}, err
	}
	o := cpython.ImportNumPy(x)
	switch {
	case !o.Exists() && (r.Copy == capsule.CopyAlways || r.Reads):
		return takeNumPyCopy(x)
	case !o.Exists():
		strides := x.Find("strides")
		defer strides.Release()
		remedy := "use copy=True"
		if r.Writes {
			remedy = dlpack.AlignmentRemedy("x", true)
		}
		return capsule.Imported{}, dlpack.Errorf(dlpack.KindBuffer, "%s: want at most %d dimensions and strides in whole elements, got strides of %s bytes; %s", typ.Name(), dlpack.MaxNDim, strides.Repr(), remedy)
	}
	cpython.SetPlan(typ, cpython.Plan{Protocol: cpython.ByNumPy})
	return capsule.Imported{Tensor: o}, nil
}

// takeNumPyCopy imports NumPy's own copy of an array that DLPack cannot describe (R17): the copy has no gaps.
func takeNumPyCopy(x cpython.Object) (capsule.Imported, error) {
	made, err := x.CallMethod("copy", nil)
	if err != nil {
		return capsule.Imported{}, err
	}
	defer made.Release()
	if !isArray(made) { // a subclass may have its own copy()
		return capsule.Imported{}, dlpack.Errorf(dlpack.KindType, "%s.copy() returned %s: want an array", x.Type().Name(), made.Type().Name())
	}
	taken, err := takeNumPy(made, Request{Copy: capsule.CopyNever})
	taken.Copied = true
	return taken, err
}

// NumPyDType returns numpy's dtype object for a dtype, from ml_dtypes if NumPy does not have it. A dtype that neither has is
// a BufferError, as is a sub-byte dtype that is not padded.
//
// GIL: held; may import ml_dtypes.
// Owns: the result is new; on error there is none.
func NumPyDType(d dlpack.DType, padded bool) (cpython.Object, error) {
	if d.SubByte() && !padded {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "numpy does not support packed %s", d)
	}
	if d == dlpack.Float128 { // numpy's is the C compiler's long double
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "numpy has no IEEE float128")
	}
	class, err := mlDType(d), error(nil)
	if !class.Exists() {
		class, err = cpython.Str(d.String())
	}
	if err != nil {
		return class, err
	}
	defer class.Release()
	dtype, err := cpython.Imported("numpy").CallIn("dtype", class)
	if err != nil {
		cpython.ClearError()
		return dtype, dlpack.Errorf(dlpack.KindBuffer, "numpy has no dtype %s%s", d, installHint(d))
	}
	return dtype, nil
}

// mlDType returns the scalar class of ml_dtypes for a dtype, the zero Object if there is none. ml_dtypes is imported only for
// its own dtypes: a child forked while another thread imports a module could never import that module.
func mlDType(d dlpack.DType) cpython.Object {
	if !isMLDTypes(d) {
		return cpython.Object{}
	}
	module, err := cpython.Import("ml_dtypes")
	if err != nil {
		cpython.ClearError() // not installed
		return cpython.Object{}
	}
	defer module.Release()
	return module.Find(d.String())
}

// isMLDTypes reports whether numpy has a dtype only by ml_dtypes.
func isMLDTypes(d dlpack.DType) bool {
	return d.Lanes == 1 && (d.SubByte() || d.Code == dlpack.CodeBfloat || d.Code >= dlpack.CodeFloat8E3M4)
}

func installHint(d dlpack.DType) string {
	if isMLDTypes(d) && d.Code != dlpack.CodeInt && d.Code != dlpack.CodeUInt {
		return " (the package ml_dtypes adds such types)"
	}
	return ""
}
