-- Prolongs holds, as many as there are keys of.
-- KEYS: for each hold its lock, queue, readers and claims, as in common.lua; ARGV: ttl (ms), claim ids
-- Returns for each hold 0 if it is lost, 1, or 2 if another client waits
local ttl = tonumber(ARGV[1])
local TOKEN_KEPT = 1200000
local SLACK = 5000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local till = now + ttl

local function keep(key, ms)
  if redis.call('PTTL', key) < ms + SLACK then
    redis.call('PEXPIRE', key, ms + SLACK)
  end
end

local function is_wanted(queue, id)
  if redis.call('EXISTS', queue) == 1 then
    local waiting = redis.pcall('ZRANGE', queue, 0, 2) -- no list if the key is not a queue: nobody waits there
    for _, other in ipairs(waiting) do
      if string.sub(other, 1, 22) ~= string.sub(id, 1, 22) then
        return true
      end
    end
  end
  return false
end

local function renew(id, lock, queue, readers, claims)
  local fields = redis.call('HMGET', lock, 'owner', 'until')
  if fields[1] == id then
    if till > tonumber(fields[2]) then
      redis.call('HSET', lock, 'until', till)
      redis.call('PEXPIRE', lock, ttl + TOKEN_KEPT)
    end
  else
    local score = redis.call('ZSCORE', readers, id)
    if not score then
      return 0
    end
    if till > tonumber(score) then
      redis.call('ZADD', readers, till, id)
      keep(readers, ttl)
      keep(claims, ttl)
      keep(lock, ttl + TOKEN_KEPT)
    end
  end
  return is_wanted(queue, id) and 2 or 1
end

local reply = {}
for i = 2, #ARGV do
  local k = (i - 2) * 4
  local done, result = pcall(renew, ARGV[i], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4])
  if not done then
    -- A key that another program has written costs its own lock alone; any other error is about the server.
    if not string.find(type(result) == 'table' and result.err or result, 'WRONGTYPE', 1, true) then
      error(result, 0)
    end
    result = 0
  end
  reply[#reply + 1] = result
end
return reply
