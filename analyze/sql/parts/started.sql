{{- /* When the recordings began: as the recorder wrote it down, and not after the first row. */ -}}
begins AS (
    SELECT {{host}}min(ts_ns) AS first_ns, min(CASE WHEN event = 'meta' AND {{name "key"}} = 'netrec.recording' THEN nullif({{fact "start_ns"}}, 0) END) AS noted_ns
    FROM capture
    {{perhost}}
), started AS (
    SELECT {{host}}CASE WHEN noted_ns <= first_ns THEN noted_ns ELSE first_ns END AS start_ns
    FROM begins
)
{{- /* no newline */ -}}
