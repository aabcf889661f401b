package packed_test

import (
	"fmt"

	"godlpack/packed"
)

// A function in the convention, called with values that Go holds.
func Example() {
	half := func(args packed.Args, ret *packed.Ret) error {
		x, err := args.At(0).Float()
		if err != nil {
			return err
		}
		ret.Set(packed.Float(x / 2))
		return nil
	}
	ret := packed.Ret{Value: new(packed.Value), Code: new(packed.Code)}
	for _, cell := range []packed.Cell{packed.Int(7), packed.Null} {
		args := packed.Slices([]packed.Value{cell.Value}, []packed.Code{cell.Code}, nil)
		if err := half(args, &ret); err != nil {
			fmt.Println(err)
			continue
		}
		result, _ := ret.Get().Float()
		fmt.Println(result, ret.Get().Code)
	}
	// Output:
	// 3.5 float
	// TypeError: want float, got None
}
