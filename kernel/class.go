package kernel

import (
	"encoding/json"
	"reflect"
	"slices"

	"godlpack/packed"
)

// Class describes an exported Go type, a class in Python.
type Class struct {
	Name string `json:"name"`          // a Python identifier, in CapWords
	Doc  string `json:"doc,omitempty"` // a description, as in Go's doc comment
	// Exclusive states that an object has one call at a time: another one, of any thread, is a RuntimeError.
	Exclusive bool `json:"exclusive,omitempty"`
}

// Role is what a function is to its class.
type Role string

// The roles. A method and an accessor have the object as their first parameter, named self.
const (
	FreeFunction Role = ""
	Method       Role = "method"
	Constructor  Role = "new"    // its only result is the new object
	Static       Role = "static" // without an object
	Getter       Role = "get"    // of an attribute, which has the function's name
	Setter       Role = "set"
	Next         Role = "next"   // takes elements of the Iterator that the function of this name returned; not for callers
	Feed         Role = "feed"   // gives elements of an iterable to the function of this name; not for callers
	Result       Role = "result" // takes the results of the Task that the function of this name returned; not for callers
)

// A class is a registered Class.
type class struct {
	Class
	number  int          // index in registeredClasses
	pointer reflect.Type // *T
}

// registeredClasses lists the classes of this library, in the order of their registration.
var registeredClasses []*class

// A ClassOf is the registered class of the Go type T, whose objects are pointers to T.
type ClassOf[T any] struct{ class *class }

// RegisterClass adds the class of a Go type to those that the library offers. Functions that have its objects as arguments or
// results are registered after it. It is for init functions, and panics if the name is no Python identifier, or if the name or
// the type is registered already, which is a mistake of the author.
func RegisterClass[T any](c Class) ClassOf[T] {
	pointer := reflect.TypeFor[*T]()
	if !identifier(c.Name) {
		panic("kernel: class: want a Python identifier, got " + c.Name)
	}
	if slices.ContainsFunc(registeredClasses, func(o *class) bool { return o.Name == c.Name || o.pointer == pointer }) {
		panic("kernel: class " + c.Name + ": registered twice")
	}
	registered := &class{c, len(registeredClasses), pointer}
	registeredClasses = append(registeredClasses, registered)
	return ClassOf[T]{registered}
}

// Classes returns the registered classes as JSON, a list in the order of their numbers; "" if there are none.
func Classes() string {
	if len(registeredClasses) == 0 {
		return ""
	}
	list := make([]Class, len(registeredClasses))
	for i, c := range registeredClasses {
		list[i] = c.Class
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // they consist of strings
	}
	return string(text)
}

// classNamed returns the class of that name, nil if there is none.
func classNamed(name string) *class {
	i := slices.IndexFunc(registeredClasses, func(c *class) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return registeredClasses[i]
}

// Object returns the object in argument i; nil for None.
func (k ClassOf[T]) Object(c *Call, i int) *T {
	if c.Passed(i) {
		if e := objects.at(c.args.At(i)); e.class == k.class {
			return (*T)(addressOf(e.value)) // as the type assertion of Interface, in a third of the time
		}
	}
	return Interface[*T](c, i)
}

// Objects returns the objects in the list in argument i.
func (k ClassOf[T]) Objects(c *Call, i int) []*T { return Interfaces[*T](c, i) }

// Interface returns the object in argument i, whose classes all implement the interface I; nil for None.
func Interface[I any](c *Call, i int) (object I) {
	cell := c.cell(i)
	if cell.Code == packed.CodeNull {
		return object
	}
	return objectAt[I](c, i, cell)
}

// Interfaces returns the objects in the list in argument i, whose classes all implement the interface I.
func Interfaces[I any](c *Call, i int) []I {
	list := c.elements(i)
	values := make([]I, list.Len())
	for k := range values {
		values[k] = objectAt[I](c, i, list.At(k))
	}
	return values
}

func objectAt[I any](c *Call, i int, cell packed.Cell) I {
	object, ok := objects.at(cell).value.(I)
	if !ok {
		panic(c.misread(i, "a "+reflect.TypeFor[I]().String()))
	}
	return object
}

// Return returns an object: the one that the host has for this pointer, if it has one; None for nil.
func (k ClassOf[T]) Return(c *Call, p *T) {
	if p == nil {
		c.ReturnNone()
		return
	}
	c.give(objects.give(p, k.class))
}

// ReturnList returns a list of objects. A nil in it is a ValueError.
func (k ClassOf[T]) ReturnList(c *Call, list []*T) {
	returnList(c, list, func(p *T) (packed.Cell, error) {
		if p == nil {
			return packed.Cell{}, Errorf(ValueError, "%s(): result: want a list of %s, got one with nil in it", c.fn.label(), k.class.Name)
		}
		return objects.give(p, k.class)
	})
}

// ReturnInterface returns an object by an interface: of a registered class, or None for nil. Any other value is a TypeError.
func ReturnInterface(c *Call, v any) { c.give(objectCell(c, v)) }

// ReturnInterfaces returns a list of objects by an interface.
func ReturnInterfaces[I any](c *Call, list []I) {
	returnList(c, list, func(v I) (packed.Cell, error) { return objectCell(c, v) })
}

func objectCell(c *Call, v any) (packed.Cell, error) {
	if v == nil {
		return packed.Null, nil
	}
	class := classOf(v)
	switch {
	case class == nil:
		return packed.Cell{}, Errorf(TypeError, "%s(): result: want an object of an exported type, got a %T: export its type", c.fn.label(), v)
	case reflect.ValueOf(v).IsNil():
		return packed.Null, nil
	}
	return objects.give(v, class)
}

// classOf returns the class of a pointer's type, nil if it is not registered.
func classOf(v any) *class {
	pointer := reflect.TypeOf(v)
	i := slices.IndexFunc(registeredClasses, func(k *class) bool { return k.pointer == pointer })
	if i < 0 {
		return nil
	}
	return registeredClasses[i]
}
