-- How many rows of each event there are.
WITH {{capture}}
SELECT {{host}}event, count(*) AS rows
FROM capture
GROUP BY {{host}}event
ORDER BY {{host}}event
