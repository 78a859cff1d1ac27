-- Asks one of several independent servers for the lock. Asked again with the same claim id, it finds what it got.
-- ARGV: claim id, may wait, may barge, ttl, waiter expiry (ms), info
-- Returns {1, last token, time (µs)} if it has this server, {0, free in, owner} if it waits, {-1, free in, owner} if the
-- server is another's, {-2} if it was given up before
local id, may_wait, may_barge = ARGV[1], ARGV[2] == '1', ARGV[3] == '1'
local ttl, patience, info = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

-- The token is not drawn here: the claim draws it from what a majority of servers remembers.
local function take()
  leave_queue(id)
  redis.call('HSET', LOCK, 'owner', id, 'until', now + ttl, 'info', info)
  redis.call('PEXPIRE', LOCK, ttl + TOKEN_KEPT)
  return { 1, token, time[1] * 1000000 + time[2] }
end

load()
if owner == id then
  prolong(now + ttl)
  return { 1, token, time[1] * 1000000 + time[2] }
end
if redis.call('ZSCORE', GONE, id) then
  return { -2 }
end
if not owner and (may_barge or redis.call('EXISTS', QUEUE) == 0) then
  return take()
end
if not may_wait then
  return { -1, free_in(), owner or '' }
end

if not redis.call('ZSCORE', QUEUE, id) then
  local last = redis.call('ZRANGE', QUEUE, -1, -1, 'WITHSCORES')
  redis.call('ZADD', QUEUE, (last[2] or 0) + 1, id)
end
redis.call('HSET', CLAIMS, id, 'Xb 0 ' .. info, 'x' .. id, now + patience)
keep(QUEUE, patience)
keep(CLAIMS, patience)
serve({})
if redis.call('ZCARD', QUEUE) <= 2 or redis.call('ZRANGE', QUEUE, 0, 0)[1] == id then
  tell_wanted(id)
end
return { 0, free_in(), owner or '' }
