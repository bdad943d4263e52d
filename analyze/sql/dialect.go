package sql

import "strings"

// dialect is what a database writes in its own way. Formats take their operands in order.
type dialect struct {
	name   string
	from   string              // a file, or files by a pattern
	path   string              // column with the path of the file
	quote  func(string) string // of a path
	div    string              // of whole numbers
	and    string              // of bits
	hex    string              // of a number, without leading zeros
	bits   string              // how many bits a number above 0 has
	power  string              // of two
	first  string              // the earliest value of the rows that fit a condition
	match  string              // the first group of a regular expression in a text, "" if there is none
	split  string              // a row for each part of a text between commas
	parse  string              // a number from its digits, NULL if it is none
	text   string              // type of a text that may be NULL
	whole  string              // type of a number that may be NULL
	ident  string              // a name that is a word of the language
	ending string
}

// Columns made of folder names such as host=… would hide those of the recording, so none
// of the databases may make them.
var dialects = []*dialect{
	{
		name:  "duckdb",
		from:  "read_parquet(%s, filename = true, hive_partitioning = false, union_by_name = true)",
		path:  "filename",
		quote: func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
		div:   "(%s) // %d",
		and:   "(%s & %d)",
		hex:   "'0x' || lower(hex(%s))",
		bits:  "length(bin(CAST(%s AS BIGINT)))",
		power: "CAST(1 AS BIGINT) << (%s)",
		first: "arg_min(%s, CASE WHEN %s THEN ts_ns END)",
		match: "regexp_extract(%s, '%s', 1)",
		split: "unnest(string_split(%s, ','))",
		parse: "TRY_CAST(%s AS BIGINT)",
		text:  "VARCHAR",
		whole: "BIGINT",
		ident: `"%s"`,
	},
	{
		name:  "clickhouse",
		from:  "file(%s, Parquet)",
		path:  "_path",
		quote: func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" },
		div:   "intDiv(%s, %d)",
		and:   "bitAnd(%s, %d)",
		hex:   `concat('0x', lower(replaceRegexpOne(hex(%s), '^0+(.)', '\\1')))`,
		bits:  "toInt64(length(trimLeft(bin(toInt64(%s)), '0')))",
		power: "bitShiftLeft(toInt64(1), %s)",
		first: "argMin(%s, CASE WHEN %s THEN ts_ns END)",
		match: "extract(%s, '%s')",
		split: "arrayJoin(splitByChar(',', assumeNotNull(%s)))",
		parse: "toInt64OrNull(%s)",
		text:  "Nullable(String)",
		whole: "Nullable(Int64)",
		ident: `"%s"`,
		// Outer joins fill in zeros unless told not to.
		ending: "\nSETTINGS use_hive_partitioning = 0, join_use_nulls = 1, prefer_column_name_to_alias = 1",
	},
	{
		name:  "spark",
		from:  "parquet.%s", // a pattern of files makes no columns of folders
		path:  "_metadata.file_path",
		quote: func(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" },
		div:   "(%s) div %d",
		and:   "(%s & %d)",
		hex:   "concat('0x', lower(conv(CAST(%s AS STRING), 10, 16)))",
		bits:  "length(bin(CAST(%s AS BIGINT)))",
		power: "shiftleft(CAST(1 AS BIGINT), CAST(%s AS INT))",
		first: "min_by(%s, CASE WHEN %s THEN ts_ns END)",
		match: "regexp_extract(%s, '%s', 1)",
		split: "explode(split(%s, ','))",
		parse: "try_cast(%s AS BIGINT)",
		text:  "STRING",
		whole: "BIGINT",
		ident: "`%s`",
	},
}
