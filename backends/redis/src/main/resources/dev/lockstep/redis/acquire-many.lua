-- Takes locks that are free, in the order of their keys, and stops at the first that is not. Only the usual case counts as
-- free: nobody holds, waits, reads or was given up, and it is no semaphore. Any other lock is asked for alone, by acquire.lua.
-- Asked again with the same claim ids, it finds what they got.
-- KEYS: for each lock its lock, queue, readers and gone, as in common.lua; ARGV: ttl (ms), info, claim ids
-- Returns for each lock its token; 0 for the first that is not free and for all behind it
local ttl, info = tonumber(ARGV[1]), ARGV[2]

local function take(id, lock, queue, readers, gone)
  local known = redis.call('HMGET', lock, 'owner', 'token', 'limit', 'format', 'until')
  local held = known[1] and tonumber(known[5]) > now
  if held and known[1] == id and not known[4] then
    set_owner_until(lock, now + ttl)
    return tonumber(known[2])
  end
  if held or known[3] or known[4] or redis.call('EXISTS', queue, readers, gone) > 0 then
    return 0
  end
  if known[1] then
    redis.call('HDEL', lock, 'wait') -- of an owner whose time is over
  end
  local token = next_token(known[2])
  redis.call('HSET', lock, 'owner', id, 'until', now + ttl, 'token', token, 'info', info)
  redis.call('PEXPIRE', lock, ttl + TOKEN_KEPT + ahead(token))
  return token
end

local reply = {}
local free = true
for i = 3, #ARGV do
  local k = (i - 3) * 4
  local token = free and one_of_many(0, take, ARGV[i], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4]) or 0
  free = token > 0
  reply[#reply + 1] = token
end
return reply
