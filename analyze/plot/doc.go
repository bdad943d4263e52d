// Package plot draws curves over time, as SVG and as PNG.
//
// It owns the layout of a figure: axes, ticks, legend, curves and marks, and the two
// canvases they are drawn on. It knows nothing of sockets or recordings, and reads no file.
// Shapes and letters of a PNG are drawn by golang.org/x/image, from the Go authors, with
// the font that comes with it; SVG is text.
//
// Start with Figure.
package plot
