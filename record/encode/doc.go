// Package encode turns raw ring records into Parquet row groups.
//
// It owns the bytes of a row group: order by time, encodings, compression,
// statistics, bloom filters and the Thrift structures of pages, row groups and
// footer. Columns are built straight from the records, a block of rows at a time,
// so that an event costs what its own columns cost; the columns it lacks are a
// few bytes each.
//
// Pages and Thrift are written by hand: through parquet-go, narrow rows into the wide
// table cost 2 to 38 times a typed writer. The tests read everything with parquet-go.
//
// It refuses everything else: no files, no clocks, no symbols (a Resolver names
// numbers), no meaning.
//
// Start with Encoder and its method Group.
package encode
