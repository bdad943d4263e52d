-- Time in hard interrupts, by device.
WITH {{capture}}
SELECT {{host}}irq_name AS name, {{div "sum(dur_ns)" 1000}} AS total_usecs, count(*) AS runs, max(dur_ns) AS max_ns
FROM capture
WHERE event = 'irq'
GROUP BY {{host}}irq_name
ORDER BY {{host}}total_usecs, name
