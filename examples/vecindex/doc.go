// Package vecindex finds the nearest of many vectors approximately, by a hierarchical navigable small world graph (HNSW: Malkov
// and Yashunin, https://arxiv.org/abs/1603.09320).
//
//	ix, err := vecindex.NewIndex(64, "l2", 16, 200, 0)
//	err = ix.Add(nil, vectors, nil)
//	ids, distances, err := ix.Search(nil, queries, 10, 64)
//
// An Index is built and searched in all threads that godlpack uses. The code is plain Go; godlpack makes package main, the
// sidecar and the glue for Python.
package vecindex
