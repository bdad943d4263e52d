{{- /* Histogram of samples.v with buckets that double, by keys: low <= v < high. */ -}}
, sized AS (
    SELECT {{host}}{{.}}{{bits "v"}} AS size
    FROM samples
), buckets AS (
    SELECT {{host}}{{.}}size, count(*) AS n
    FROM sized
    GROUP BY {{host}}{{.}}size
)
SELECT {{host}}{{.}}CASE WHEN size = 0 THEN 0 WHEN size > 0 THEN {{power "greatest(size - 1, 0)"}} END AS low,
    CASE WHEN size < 0 THEN 0 WHEN size < 63 THEN {{power "greatest(size, 0)"}} END AS high, n AS count
FROM buckets
ORDER BY {{host}}{{.}}size
