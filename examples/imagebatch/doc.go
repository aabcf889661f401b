// Package imagebatch decodes JPEG and PNG files into one batch of pictures of the same size, in goroutines, straight into a
// tensor of the caller's own framework.
//
//	batch, err := imagebatch.Decode(nil, []string{"cat.jpg", "dog.png"}, 224, 224) // (2, 3, 224, 224)
//
// A file goes through three steps: decode.go reads and checks it, planes.go sees its pixels as three planes where they are,
// and resample.go filters these into the tensor. There is no picture in between.
package imagebatch
