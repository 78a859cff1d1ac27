-- Asks one of several independent servers for the lock. Asked again with the same claim id, it finds what it got.
-- ARGV: claim id, may wait, may barge, ttl, waiter expiry (ms), info
-- Returns {1, last token, time (µs)} if it has this server, {0, free in, owner} if it waits, {-1, free in, owner} if the
-- server is another's, {-2} if it was given up before
local id, may_wait, may_barge = ARGV[1], ARGV[2] == '1', ARGV[3] == '1'
local ttl, patience, info = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

-- The token is not drawn here: the claim draws it from what a majority of servers remembers.
local function take()
  leave_queue(id)
  if recorded then
    clear_owner() -- whose time is over
  end
  redis.call('HSET', LOCK, 'owner', id, 'until', now + ttl, 'info', info)
  keep(LOCK, ttl + TOKEN_KEPT)
  return { 1, token, micros }
end

load()
if owner == id then
  prolong(now + ttl)
  return { 1, token, micros }
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
  enter_queue(id)
end
redis.call('HSET', CLAIMS, id, 'Xb 0 ' .. info)
stay_in_queue(id, patience)
serve({})
if redis.call('ZCARD', QUEUE) <= 2 or redis.call('ZRANGE', QUEUE, 0, 0)[1] == id then
  tell_wanted(id)
end
return { 0, free_in(), owner or '' }
