// Package sql is analyses written as SQL, for DuckDB, ClickHouse and Spark: for many
// recordings at once, where they are. It owns the queries, one file each under queries/,
// and what the dialects write differently; it runs nothing. A query gives columns of the
// analysis's own tables, under their names, and tests hold the values equal. Start with
// Query.
package sql
