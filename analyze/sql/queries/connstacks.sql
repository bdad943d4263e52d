-- The code that calls connect(2).
WITH {{capture}}
SELECT {{host}}ustack, count(*) AS count
FROM capture
WHERE event = 'sys_connect'
GROUP BY {{host}}ustack
ORDER BY {{host}}count(*), ustack
