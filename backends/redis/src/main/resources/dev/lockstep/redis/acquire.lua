-- Asks for the lock. Asked again with the same claim id, it finds what it got.
-- ARGV: claim id, mode X or S, may wait, may barge, ttl, waiter expiry (ms), info; of a semaphore also how many permits
-- there are, and how many are asked for
-- Returns {1, token, wanted} granted, {0, free in} waiting, {-1} busy, {-2} given up before, {-3, permits} if others use the
-- name as a semaphore with so many permits, or as a lock if it is 0
local id, mode, may_wait, may_barge = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local ttl, patience, info = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local asked, permits = tonumber(ARGV[8]), tonumber(ARGV[9] or 1)

local function busy()
  require_writable()
  return { -1 }
end

-- Removes waiters whose clients are gone.
local function purge_queue()
  for _, waiter in ipairs(redis.call('ZRANGE', QUEUE, 0, -1)) do
    if tonumber(redis.call('HGET', CLAIMS, 'x' .. waiter) or 0) <= now then
      leave_queue(waiter)
    end
  end
end

load()
if owner == id then
  prolong(now + ttl)
  return { 1, token, is_wanted(QUEUE, id) }
end
if limit ~= asked then
  purge_readers()
  purge_queue()
  if owner or redis.call('EXISTS', QUEUE, READERS) > 0 then
    require_writable()
    return { -3, limit or 0 }
  end
  forget_unused()
  limit = asked
end
if not owner and redis.call('EXISTS', QUEUE, READERS, GONE) == 0 then
  extra = 0
  return { 1, hold(id, mode, info, now + ttl, permits), 0 }
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
  return { 1, token_of_reader(id), is_wanted(QUEUE, id) }
end
if not owner and mode == 'X' and may_barge and redis.call('ZCARD', READERS) == 0 then
  leave_queue(id)
  return { 1, hold(id, mode, info, now + ttl), is_wanted(QUEUE, id) }
end
if not may_wait then
  serve({})
  local free = not owner and (mode == 'S' or redis.call('ZCARD', READERS) == 0)
  if limit then
    free = permits_in_use() + permits <= limit
  end
  if free and redis.call('EXISTS', QUEUE) == 0 then
    return { 1, hold(id, mode, info, now + ttl, permits), 0 }
  end
  return busy()
end

if not redis.call('ZSCORE', QUEUE, id) then
  enter_queue(id)
  local state = mode == 'X' and may_barge and 'b' or 'd'
  redis.call('HSET', CLAIMS, id, mode .. (limit and permits or '') .. state .. ' 0 ' .. info)
end
stay_in_queue(id, patience)
serve({ [id] = now + ttl })
if granted[id] then
  return { 1, granted[id], is_wanted(QUEUE, id) }
end
if not limit and redis.call('ZCARD', QUEUE) <= 2 then
  tell_wanted(id)
end
return { 0, free_in() }
