package kernel_test

import (
	"strings"
	"sync"
	"testing"

	"godlpack/kernel"
	"godlpack/packed"
)

type thing struct {
	first part
	n     int
}

type part struct{ N int }

var (
	thingClass = kernel.RegisterClass[thing](kernel.Class{Name: "Thing"})
	partClass  = kernel.RegisterClass[part](kernel.Class{Name: "Part"})

	oneThing = &thing{n: 7}

	self     = kernel.Param{Name: "self", Kind: kernel.KindObject, Classes: []string{"Thing"}}
	aThing   = kernel.Param{Kind: kernel.KindObject, Classes: []string{"Thing"}}
	someFunc = map[string]kernel.Func{
		"get_thing": {Results: []kernel.Param{aThing}, Do: func(c *kernel.Call) error {
			thingClass.Return(c, oneThing)
			return nil
		}},
		"get_part": {Results: []kernel.Param{{Kind: kernel.KindObject, Classes: []string{"Part"}}}, Do: func(c *kernel.Call) error {
			partClass.Return(c, &oneThing.first)
			return nil
		}},
		"touch": {Params: []kernel.Param{self}, Do: func(c *kernel.Call) error {
			thingClass.Object(c, 0)
			return nil
		}},
		"nothing": {Do: func(*kernel.Call) error { return nil }},
		"fail": {Results: []kernel.Param{aThing, aThing}, Do: func(c *kernel.Call) error {
			thingClass.Return(c, &thing{})
			thingClass.ReturnList(c, []*thing{{}, {}, nil})
			return nil
		}},
		"number": {Params: []kernel.Param{self}, Results: []kernel.Param{{Kind: kernel.KindInt}}, Do: func(c *kernel.Call) error {
			c.ReturnInt(int64(thingClass.Object(c, 0).n))
			return nil
		}},
	}
)

func init() {
	for name, f := range someFunc {
		f.Name = name
		kernel.Register(f)
	}
}

// registered returns a registered function.
func registered(t testing.TB, name string) *kernel.Func {
	t.Helper()
	for _, f := range kernel.Funcs() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// received calls a function that returns an object.
func received(t testing.TB, name string) uint64 {
	t.Helper()
	c, h := newCall(), newHost()
	if err := c.of(registered(t, name), h); err != nil {
		t.Fatal(err)
	}
	cell := c.ret.Get()
	if cell.Code != packed.CodeObject {
		t.Fatalf("want an object, got %v", cell.Code)
	}
	return uint64(cell.Value)
}

// The same pointer is the same number while the host has it, and a struct is another object than its first field.
func TestObjectIdentity(t *testing.T) {
	before := kernel.Held()
	a, b, c := received(t, "get_thing"), received(t, "get_thing"), received(t, "get_part")
	if a != b || a == c || kernel.Held() != before+2 {
		t.Errorf("got %#x, %#x and %#x, %d more objects", a, b, c, kernel.Held()-before)
	}
	kernel.Release(a, 1)
	if received(t, "get_thing") != a {
		t.Error("an object that the host has got another number")
	}
	kernel.Release(a, 2)
	kernel.Release(c, 1)
	if kernel.Held() != before {
		t.Errorf("%d objects are left", kernel.Held()-before)
	}
	kernel.Release(a, 1)     // nobody has it
	kernel.Release(1<<31, 1) // nor ever had
	if kernel.Held() != before {
		t.Errorf("%d objects are left", kernel.Held()-before)
	}
}

func TestObjectArguments(t *testing.T) {
	number := registered(t, "number")
	given, other := received(t, "get_thing"), received(t, "get_part")
	for _, c := range []struct {
		cell packed.Cell
		want string
	}{
		{packed.Object(given), ""},
		{packed.Object(other), "TypeError: number(): argument 'self': want Thing, got Part"},
		{packed.Object(given + 1<<20), "TypeError: number(): argument 'self': want Thing, got object"},
		{packed.Object(given + 1<<32), "TypeError: number(): argument 'self': want Thing, got object"},
		{packed.Object(1<<63 | given), "TypeError: number(): argument 'self': want Thing, got object"},
		{packed.Int(int64(given)), "TypeError: number(): argument 'self': want Thing, got int"},
		{packed.Null, "TypeError: number(): argument 'self': want Thing, got None"},
	} {
		call, h := newCall(c.cell), newHost()
		err := call.of(number, h)
		switch {
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("got %v\nwant %s", err, c.want)
		case c.want == "" && (err != nil || call.result(t, h) != int64(7)):
			t.Errorf("got %v", err)
		}
	}
	kernel.Release(given, 1)
	kernel.Release(other, 1)
	call := newCall(packed.Object(given))
	if err := call.of(number, newHost()); err == nil || !strings.Contains(err.Error(), "want Thing, got object") {
		t.Errorf("an object that was released: got %v", err)
	}
}

// A call that fails after it has made results keeps none of them.
func TestObjectsOfFailedCall(t *testing.T) {
	before := kernel.Held()
	for range 10 {
		c := newCall()
		if err := c.of(registered(t, "fail"), newHost()); err == nil || !strings.Contains(err.Error(), "with nil in it") {
			t.Fatalf("got %v", err)
		}
	}
	if kernel.Held() != before {
		t.Errorf("%d objects are left", kernel.Held()-before)
	}
}

// Many goroutines receive and release the same and other objects.
func TestObjectsConcurrently(t *testing.T) {
	before := kernel.Held()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				kernel.Release(received(t, "get_thing"), 1)
			}
		})
	}
	all.Wait()
	if kernel.Held() != before {
		t.Errorf("%d objects are left", kernel.Held()-before)
	}
}

func TestBadClasses(t *testing.T) {
	for want, f := range map[string]func(){
		"want a Python identifier": func() { kernel.RegisterClass[int](kernel.Class{Name: "no name"}) },
		"registered twice":         func() { kernel.RegisterClass[thing](kernel.Class{Name: "Other"}) },
		"Thing: registered twice":  func() { kernel.RegisterClass[int](kernel.Class{Name: "Thing"}) },
		"no class Nowhere": func() {
			kernel.Register(kernel.Func{Name: "nowhere", Do: func(*kernel.Call) error { return nil },
				Results: []kernel.Param{{Kind: kernel.KindObject, Classes: []string{"Nowhere"}}}})
		},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("want a panic with %q, got %q", want, text)
				}
			}()
			f()
		}()
	}
	do := func(*kernel.Call) error { return nil }
	for _, c := range []struct {
		f    kernel.Func
		want string
	}{
		{kernel.Func{Name: "f", Do: do, Class: "Thing"}, "Thing.f: want a role in the class Thing, got none"},
		{kernel.Func{Name: "f", Do: do, Class: "Thing", Role: kernel.Method}, "Thing.f: want Thing as the first parameter, named self"},
		{kernel.Func{Name: "f", Do: do, Class: "Part", Role: kernel.Method, Params: []kernel.Param{self}}, "Part.f: want Part as the first parameter, named self"},
		{kernel.Func{Name: "f", Do: do, Class: "Thing", Role: kernel.Constructor}, "Thing: want Thing as the only result of its constructor"},
		{kernel.Func{Name: "f", Do: do, Class: "Thing", Role: "queen"}, `Thing.f: want a role, got "queen"`},
		{kernel.Func{Name: "f", Do: do, Role: kernel.Static}, `f: want the Python name of a class, got ""`},
		{kernel.Func{Name: "f", Do: do, Class: "Thing", Role: kernel.Getter, Params: []kernel.Param{self}}, "Thing.f: want a getter of self and one result, or a setter of self and a value"},
		{kernel.Func{Name: "f", Do: do, Params: []kernel.Param{{Name: "x", Kind: kernel.KindObject}}}, "f: parameter x: want the classes of an object, got none"},
	} {
		if _, err := kernel.Prepare(c.f); err == nil || err.Error() != "ValueError: "+c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func BenchmarkMethod(b *testing.B) {
	touch := registered(b, "touch")
	nothing := registered(b, "nothing")
	h := newHost()
	given := newCall()
	if err := given.of(registered(b, "get_thing"), h); err != nil {
		b.Fatal(err)
	}
	object := newCall(given.ret.Get())
	none := newCall()
	b.Run("f()", func(b *testing.B) {
		for b.Loop() {
			if err := none.of(nothing, h); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("o.m()", func(b *testing.B) {
		for b.Loop() {
			if err := object.of(touch, h); err != nil {
				b.Fatal(err)
			}
		}
	})
}
