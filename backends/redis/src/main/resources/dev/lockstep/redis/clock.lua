-- The server's clock: now in milliseconds, micros for tokens.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = time[1] * 1000000 + time[2]
