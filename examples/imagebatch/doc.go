// Package imagebatch decodes JPEG and PNG files into one batch of pictures of the same size, in goroutines, directly into a
// tensor of the caller's own framework.
//
//	batch, err := imagebatch.Decode(nil, []string{"cat.jpg", "dog.png"}, 224, 224) // (2, 3, 224, 224)
//
// A file is processed in three steps: decode.go reads and checks it, by libjpeg-turbo (turbo.go) or Go's own decoders, planes.go
// describes its pixels in place as three planes, and resample.go filters these into the tensor. There is no intermediate picture.
package imagebatch
