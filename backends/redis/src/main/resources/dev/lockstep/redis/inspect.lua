-- Returns the holders and waiters of locks, as many as there are keys of, without changing anything.
-- KEYS: for each lock its lock, queue, readers and claims, as in common.lua
-- Returns for each a list: how many permits there are (0 if it is no semaphore); then for each holder and waiter its claim id,
-- mode, permits, token (0 for a waiter), info, time left (ms; 0 for a waiter), and the lock for which a holder waits (empty
-- for none). Or an error if its keys are not those of a lock, or of another format
local WRONG = { err = 'WRONGTYPE A key of this lock holds the wrong kind of value' }

local function inspect(lock, queue, readers, claims)
  local fields = redis.call('HMGET', lock, 'owner', 'until', 'token', 'info', 'wait', 'limit', 'format')
  if fields[7] then
    return { err = 'LOCKSTEP_FORMAT ' .. fields[7] }
  end
  local found = { 0 }
  local function add(...)
    for _, value in ipairs({ ... }) do
      found[#found + 1] = value
    end
  end
  local till, token, limit = tonumber(fields[2]), tonumber(fields[3] or 0), tonumber(fields[6] or 0)
  if not token or not limit or (fields[1] and not (till and fields[4])) then
    return WRONG
  end
  if fields[1] and till > now then
    add(fields[1], 'X', 1, token, fields[4], till - now, fields[5] or '')
  end
  local reading = redis.call('ZRANGEBYSCORE', readers, now + 1, '+inf', 'WITHSCORES')
  for i = 1, #reading, 2 do
    local id, till = reading[i], reading[i + 1]
    local records = redis.call('HMGET', claims, id, 'w' .. id)
    local permits, token, info = string.match(records[1] or '', '^S(%d*)r (%d+) (.*)$')
    if token then
      add(id, 'S', tonumber(permits) or 1, tonumber(token), info, till - now, records[2] or '')
    end
  end
  for _, id in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    local records = redis.call('HMGET', claims, id, 'x' .. id)
    local mode, permits, info = string.match(records[1] or '', '^(%u)(%d*)%l %d+ (.*)$')
    if mode and tonumber(records[2] or 0) > now then
      add(id, mode, tonumber(permits) or 1, 0, info, 0, '')
    end
  end
  if #found > 1 then
    found[1] = limit
  end
  return found
end

local reply = {}
for i = 1, #KEYS, 4 do
  reply[#reply + 1] = one_of_many(WRONG, inspect, KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3])
end
return reply
