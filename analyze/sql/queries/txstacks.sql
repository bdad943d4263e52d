-- Ways through the kernel that lead to packets being sent.
WITH {{capture}}
SELECT {{host}}kstack, count(*) AS count
FROM capture
WHERE event = 'dev_xmit' AND kstack IS NOT NULL AND kstack <> ''
GROUP BY {{host}}kstack
ORDER BY {{host}}count(*), kstack
