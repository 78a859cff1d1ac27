-- Tells who holds and who waits for locks, as many as there are keys of, without changing anything.
-- KEYS: for each lock its lock, queue, readers and claims, as in common.lua
-- Returns for each a list of mode, token (0 for a waiter), info, time left (ms; 0 for a waiter); or an error if its keys are not those of a lock
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function inspect(lock, queue, readers, claims)
  local found = {}
  local function add(mode, token, info, left)
    found[#found + 1] = mode
    found[#found + 1] = token
    found[#found + 1] = info
    found[#found + 1] = left
  end
  local fields = redis.call('HMGET', lock, 'owner', 'until', 'token', 'info')
  if fields[1] and tonumber(fields[2]) > now then
    add('X', tonumber(fields[3] or 0), fields[4], fields[2] - now)
  end
  local reading = redis.call('ZRANGEBYSCORE', readers, now + 1, '+inf', 'WITHSCORES')
  for i = 1, #reading, 2 do
    local id, till = reading[i], reading[i + 1]
    local token, info = string.match(redis.call('HGET', claims, id) or '', '^Sr (%d+) (.*)$')
    if token then
      add('S', tonumber(token), info, till - now)
    end
  end
  for _, id in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    local record = redis.call('HMGET', claims, id, 'x' .. id)
    local mode, info = string.match(record[1] or '', '^(%u)%l %d+ (.*)$')
    if mode and tonumber(record[2] or 0) > now then
      add(mode, 0, info, 0)
    end
  end
  return found
end

local reply = {}
for i = 1, #KEYS, 4 do
  local done, result = pcall(inspect, KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3])
  if not done then
    -- A key that another program has written is said of its own lock alone; any other error is about the server.
    if not string.find(type(result) == 'table' and result.err or result, 'WRONGTYPE', 1, true) then
      error(result, 0)
    end
    result = { err = 'WRONGTYPE A key of this lock holds the wrong kind of value' }
  end
  reply[#reply + 1] = result
end
return reply
