-- Address families that processes connect and accept with; part is connect or accept.
WITH {{capture}}, calls AS (
    SELECT {{host}}CASE WHEN event = 'sys_accept' THEN 'accept' ELSE 'connect' END AS part, comm, {{number "family" "family"}} AS family
    FROM capture
    WHERE event = 'sys_connect' OR event = 'sys_accept' AND coalesce(ret, 0) >= 0
)
SELECT {{host}}part, comm, family, count(*) AS count
FROM calls
GROUP BY {{host}}part, comm, family
ORDER BY {{host}}part, count(*), comm, family
