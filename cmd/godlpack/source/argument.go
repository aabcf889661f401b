package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"godlpack/kernel"
)

// args applies the //godlpack:arg directives to the parameters that they name.
func (r *reader) args(fn *Func, marks []directive) {
	var names []string
	for _, v := range fn.Args {
		names = append(names, v.id.name)
	}
	for _, d := range marks {
		if d.verb != "arg" {
			continue
		}
		if len(d.words) < 2 {
			r.add(d.at, "want %s", usage("arg"))
			continue
		}
		i := slices.Index(names, d.words[0].text)
		if i < 0 {
			names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
			r.add(d.words[0].at, "there is no argument %q%s", d.words[0].text, suggestion(names))
			continue
		}
		for _, w := range d.words[1:] {
			r.ask(&fn.Decl.Params[i], &fn.Args[i], w)
		}
	}
	r.inOrder(fn)
}

// ask applies one word of an arg directive.
func (r *reader) ask(p *kernel.Param, v *Value, w word) {
	name, value, assigned := w.assignment()
	switch {
	case v.Form == None: // reported before
	case name == "default" && assigned && p.Passing == kernel.Variadic:
		r.add(w.at, "a variadic parameter has no default: without arguments it is empty")
	case name == "default" && assigned:
		r.defaultValue(p, v, value)
	case name == "keyword" && !assigned && p.Passing != kernel.Variadic:
		p.Passing = kernel.KeywordOnly
	case !slices.Contains([]string{"shape=", "order=", "device=", "convert", "overlap"}, name+equals(assigned)):
		r.add(w.at, "%q: want %s", w.text, usage("arg"))
	case !v.holdsTensor():
		r.add(w.at, "%s is for tensors, and this argument is a %s", name, r.typeText(v.Type))
	case v.Form == List:
		r.askTensor(p.Elem, *v.Items, name, value)
	default:
		r.askTensor(p, *v, name, value)
	}
}

func equals(assigned bool) string {
	if assigned {
		return "="
	}
	return ""
}

// askTensor applies a word that constrains a tensor.
func (r *reader) askTensor(p *kernel.Param, v Value, name string, value word) {
	switch name {
	case "shape":
		p.Shape = r.shape(value)
	case "order":
		if p.Order = kernel.Order(value.text); value.text != "C" && value.text != "F" {
			r.add(value.at, "order %q: want C (the last axis is compact) or F (the first)", value.text)
		}
	case "device":
		r.device(p, v, value)
	case "convert":
		if p.Convert = true; p.Mutable {
			r.add(value.at-1, "a tensor that the function writes to cannot be a converted copy: take a tensor.Of[T], or remove convert")
		}
	case "overlap":
		p.MayOverlap = true
	}
}

func (r *reader) device(p *kernel.Param, v Value, value word) {
	p.Device = value.text
	switch {
	case !slices.Contains([]string{"cpu", "cuda", "any"}, value.text):
		r.add(value.at, "device %q: want cpu, cuda or any", value.text)
	case value.text != "cpu" && (v.Form == Of || v.Form == Mut):
		r.add(value.at, "a tensor.Of or Mut is memory that the host can read: for device=%s take a tensor.DeviceOf or DeviceMut", value.text)
	}
}

// shape parses "[n, 3, *, ...]".
func (r *reader) shape(value word) []kernel.Extent {
	list, open := strings.CutPrefix(value.text, "[")
	list, closed := strings.CutSuffix(list, "]")
	if !open || !closed {
		r.add(value.at, "shape %q: want [n, 3, *, ...]: numbers, names that agree between arguments, * for any extent, ... for any axes", value.text)
		return nil
	}
	extents := []kernel.Extent{}
	dots := 0
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		_, err := strconv.ParseUint(part, 10, 63)
		switch {
		case part == "" && strings.TrimSpace(list) == "": // [] is a tensor without axes
			continue
		case part == "...":
			dots++
		case part != "*" && err != nil && !identifier.MatchString(part):
			r.add(value.at, "extent %q: want a number, a name, * or ...", part)
		}
		extents = append(extents, kernel.Extent(part))
	}
	if dots > 1 {
		r.add(value.at, "shape %q: want ... at most once", value.text)
	}
	return extents
}

// inOrder refuses parameters in an order that Python has not: an argument without a default after one with a default, and one
// that is passed by position after one that is not.
func (r *reader) inOrder(fn *Func) {
	earlier, named := "", ""
	for i, p := range fn.Decl.Params {
		switch {
		case p.Passing == kernel.KeywordOnly:
			named = cmp.Or(named, p.Name)
		case p.Passing == kernel.Variadic:
		case named != "":
			r.add(fn.Args[i].id.at, "%s follows %s, which is passed by name alone: write it before that, or add keyword to its directive", p.Name, named)
		case p.Default != nil:
			earlier = p.Name
		case earlier != "":
			r.add(fn.Args[i].id.at, "%s has no default and follows %s, which has one: give it a default too, or change the order", p.Name, earlier)
		}
	}
}
