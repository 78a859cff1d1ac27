-- Releases locks, as many as there are keys of, in the usual case of release.lua: the owner releases what it has, and
-- nobody waits.
-- KEYS: for each lock its lock and queue, as in common.lua; ARGV: ttl (not used), claim ids
-- Returns for each lock 1 if it was released, 0 if its case is another: it is then released alone, by release.lua
local function release(id, lock, queue)
  if redis.call('HGET', lock, 'owner') ~= id or redis.call('EXISTS', queue) == 1 then
    return 0
  end
  redis.call('HDEL', lock, 'owner', 'until', 'info', 'wait')
  return 1
end

local reply = {}
for i = 2, #ARGV do
  local k = (i - 2) * 2
  reply[#reply + 1] = one_of_many(0, release, ARGV[i], KEYS[k + 1], KEYS[k + 2])
end
return reply
