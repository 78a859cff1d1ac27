-- Lets a hold end by itself after a time, which may be earlier or later than it would end without that.
-- ARGV: claim id, the time (ms)
-- Returns 1 if the claim has the lock, else 0
local id, rest = ARGV[1], tonumber(ARGV[2])

load()
if recorded == id then
  set_owner_until(LOCK, now + rest)
  return 1
end
if redis.call('ZSCORE', READERS, id) then
  set_reader_until(LOCK, READERS, CLAIMS, id, now + rest)
  return 1
end
require_writable()
return 0
