-- Makes the exclusive holder a reader in place, and lets in the readers next in line.
-- ARGV: claim id, ttl (ms)
-- Returns 1 if it is a reader now, 0 if it does not have the lock
local id, ttl = ARGV[1], tonumber(ARGV[2])

load()
purge_readers()
if recorded == id then
  local fields = redis.call('HMGET', LOCK, 'info', 'wait')
  clear_owner()
  add_reader(id, fields[1], math.max(expires, now + ttl))
  if fields[2] then
    redis.call('HSET', CLAIMS, 'w' .. id, fields[2])
  end
  serve({})
  return 1
end
if redis.call('ZSCORE', READERS, id) then
  return 1
end
require_writable()
return 0
