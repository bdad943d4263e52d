-- CPUs that receive the packets of each device: low is the CPU.
WITH {{capture}}
SELECT {{host}}dev, cpu AS low, cpu + 1 AS high, count(*) AS count
FROM capture
WHERE event = 'dev_recv'
GROUP BY {{host}}dev, cpu
ORDER BY {{host}}dev, low
