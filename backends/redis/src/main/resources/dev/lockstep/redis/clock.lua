-- The server's clock: now in milliseconds, micros for tokens.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = time[1] * 1000000 + time[2]

-- The token after the last one, which is false if there is none: it rises, and is the time unless the clock was set back.
local function next_token(last)
  return math.max((last or 0) + 1, micros)
end

-- By how much a token is ahead of the clock (ms): 0, unless the clock was set back or the token is from another server.
local function ahead(token)
  return math.max(0, math.ceil((token - micros) / 1000))
end
