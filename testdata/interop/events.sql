-- How many rows of each event there are, as netrec analyze FILE says under "events".
SELECT event, count(*) AS rows
FROM capture
GROUP BY event
