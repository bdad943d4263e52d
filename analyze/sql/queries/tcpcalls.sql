-- Calls of TCP's send and receive functions.
WITH {{capture}}
SELECT {{host}}func, count(*) AS count
FROM capture
WHERE event = 'tcp_msg'
GROUP BY {{host}}func
ORDER BY {{host}}count(*), func
