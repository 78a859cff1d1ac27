-- Asks for the lock. Asked again with the same claim id, it finds what it got.
-- ARGV: claim id, mode X or S, may wait, may barge, ttl, waiter expiry (ms), info
-- Returns {1, token, wanted} granted, {0, free in} waiting, {-1} busy, {-2} given up before
local id, mode, may_wait, may_barge = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local ttl, patience, info = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]

local function busy()
  redis.call('ZREMRANGEBYSCORE', GONE, '-inf', now) -- a server that may not write has not the last word, and refuses
  return { -1 }
end

load()
if owner == id then
  prolong(now + ttl)
  return { 1, token, is_wanted(id) }
end
if not owner and redis.call('EXISTS', QUEUE, READERS, GONE) == 0 then
  return { 1, hold(id, mode, info, now + ttl), 0 }
end
if owner and not may_wait then
  return busy()
end
if redis.call('ZSCORE', GONE, id) then
  return { -2 }
end
purge_readers()
if redis.call('ZSCORE', READERS, id) then
  prolong_reader(id, now + ttl)
  return { 1, token_of_reader(id), is_wanted(id) }
end
if not owner and mode == 'X' and may_barge and redis.call('ZCARD', READERS) == 0 then
  leave_queue(id)
  return { 1, hold(id, mode, info, now + ttl), is_wanted(id) }
end
if not may_wait then
  serve({})
  local free = not owner and (mode == 'S' or redis.call('ZCARD', READERS) == 0)
  if free and redis.call('EXISTS', QUEUE) == 0 then
    return { 1, hold(id, mode, info, now + ttl), 0 }
  end
  return busy()
end

if not redis.call('ZSCORE', QUEUE, id) then
  local last = redis.call('ZRANGE', QUEUE, -1, -1, 'WITHSCORES')
  redis.call('ZADD', QUEUE, (last[2] or 0) + 1, id)
  redis.call('HSET', CLAIMS, id, mode .. (mode == 'X' and may_barge and 'b' or 'd') .. ' 0 ' .. info)
end
redis.call('HSET', CLAIMS, 'x' .. id, now + patience)
keep(QUEUE, patience)
keep(CLAIMS, patience)
serve({ [id] = now + ttl })
if granted[id] then
  return { 1, granted[id], is_wanted(id) }
end
if redis.call('ZCARD', QUEUE) <= 2 then
  tell_wanted(id)
end
return { 0, free_in() }
