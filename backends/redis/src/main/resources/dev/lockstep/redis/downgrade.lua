-- Makes the exclusive holder a reader in place, and lets in the readers next in line.
-- ARGV: claim id, ttl (ms)
-- Returns 1 if it is a reader now, 0 if it has not the lock
local id, ttl = ARGV[1], tonumber(ARGV[2])

load()
purge_readers()
if recorded == id then
  local info = redis.call('HGET', LOCK, 'info')
  clear_owner()
  redis.call('ZADD', READERS, math.max(expires, now + ttl), id)
  redis.call('HSET', CLAIMS, id, 'Sr ' .. digits(token) .. ' ' .. info)
  keep(READERS, math.max(expires - now, ttl))
  keep(CLAIMS, math.max(expires - now, ttl))
  serve({})
  return 1
end
return redis.call('ZSCORE', READERS, id) and 1 or 0
