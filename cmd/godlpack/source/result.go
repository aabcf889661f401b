package source

import (
	"slices"
	"strconv"
	"strings"

	"godlpack/kernel"
)

// resultMarks applies the //godlpack:result directives, which describe the tensors that a function returns; torch_op needs
// this before they exist.
func (r *reader) resultMarks(fn *Func, marks []directive) {
	if fn.holdsTensor() {
		fn.Decl.Like = r.like
	}
	for _, d := range marks {
		if d.verb != "result" {
			continue
		}
		if d = r.likeMark(fn, d); d.verb == "" {
			continue
		}
		i, words := r.resultNumber(fn, d)
		if len(words) == 0 {
			r.add(d.at, "want %s", usage("result"))
		}
		for _, w := range words {
			if i >= 0 {
				r.askResult(fn, i, w)
			}
		}
	}
}

// holdsTensor reports whether the function returns tensors, or an iterator over them.
func (fn *Func) holdsTensor() bool {
	return slices.ContainsFunc(fn.Results, Value.holdsTensor) || fn.Iterator != nil && slices.ContainsFunc(fn.Iterator.Lists, Value.holdsTensor)
}

// resultNumber returns the number of a directive's result, counted from 0, and the words after it. Without a number it is 0;
// it is -1, with an error, if there is no such result.
func (r *reader) resultNumber(fn *Func, d directive) (int, []word) {
	i, words, at := 0, d.words, d.at
	if len(words) > 0 {
		if n, err := strconv.Atoi(words[0].text); err == nil {
			i, words, at = n, words[1:], words[0].at
		}
	}
	if i < 0 || i >= len(fn.Results) {
		r.add(at, "there is no result %d: results are numbered from 0, and the function has %d, not counting an error at the end", i, len(fn.Results))
		return -1, words
	}
	return i, words
}

func (r *reader) askResult(fn *Func, i int, w word) {
	p, v := &fn.Decl.Results[i], fn.Results[i]
	name, value, assigned := w.assignment()
	switch {
	case w.text == "shared" && (v.Form == Of || v.Form == Mut):
		p.Shared, p.Mutable = true, v.Form == Mut
	case w.text == "shared":
		r.add(w.at, "shared is for a tensor.Of or a tensor.Mut, and this result is a %s", r.typeText(v.Type))
	case !assigned || name != "shape" && name != "device":
		r.add(w.at, "%q: want %s", w.text, usage("result"))
	case !v.Form.Tensor():
		r.add(w.at, "%s is for tensors, and this result is a %s", name, r.typeText(v.Type))
	default:
		r.askTensor(p, v, name, value)
	}
}

// likeMark applies like=, which is about all results, and returns the directive without it, or without a verb if nothing is
// left.
func (r *reader) likeMark(fn *Func, d directive) directive {
	i := slices.IndexFunc(d.words, isLike)
	if i < 0 {
		return d
	}
	if !fn.holdsTensor() {
		r.add(d.words[i].at, "like is for tensors, and %s returns none", fn.Go)
	}
	fn.Decl.Like = r.framework(d.words[i])
	if d.words = slices.Concat(d.words[:i], d.words[i+1:]); len(d.words) == 0 {
		return directive{}
	}
	return d
}

func isLike(w word) bool {
	name, _, ok := w.assignment()
	return ok && name == "like"
}

// framework parses like=numpy.
func (r *reader) framework(w word) string {
	_, value, _ := w.assignment()
	if !slices.Contains(kernel.Frameworks, value.text) {
		r.add(value.at, "like %q: want one of %s", value.text, strings.Join(kernel.Frameworks, ", "))
		return ""
	}
	return value.text
}
