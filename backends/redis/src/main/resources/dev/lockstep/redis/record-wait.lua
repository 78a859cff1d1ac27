-- Stores beside a hold for which lock its holder waits, or removes that. It goes with the hold.
-- ARGV: claim id, the text; empty to remove it
-- Returns 1 if the claim has the lock, else 0
local id, text = ARGV[1], ARGV[2]

local function write(key, field)
  if text == '' then
    redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, text)
  end
  return 1
end

load()
if owner == id then
  return write(LOCK, 'wait')
end
if tonumber(redis.call('ZSCORE', READERS, id) or 0) > now then
  return write(CLAIMS, 'w' .. id)
end
require_writable()
return 0
