// Package plot draws curves over time, as SVG and as PNG.
//
// It owns the layout of a figure: axes, ticks, legend, curves and marks, and the two
// canvases they are drawn on. It knows nothing of sockets or recordings, reads no file
// and uses no library beyond Go's own; letters in a PNG are strokes of its own.
//
// Start with Figure.
package plot
