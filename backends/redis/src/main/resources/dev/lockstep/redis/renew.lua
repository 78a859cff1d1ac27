-- Prolongs holds, as many as there are keys of.
-- KEYS: for each hold its lock, queue, readers and claims, as in common.lua; ARGV: ttl (ms), claim ids
-- Returns for each hold 0 if it is lost, 1, or 2 if another client waits
local till = now + tonumber(ARGV[1])

local function renew(id, lock, queue, readers, claims)
  local fields = redis.call('HMGET', lock, 'owner', 'until')
  if fields[1] == id then
    local known = tonumber(fields[2])
    if not known or till > known then -- if it is no number, another program has damaged it
      set_owner_until(lock, till)
    end
  else
    local score = redis.call('ZSCORE', readers, id)
    if not score then
      -- A write that changes nothing: on a read-only server, a missing key proves nothing.
      redis.call('ZREM', readers, id)
      return 0
    end
    if till > tonumber(score) then
      set_reader_until(lock, readers, claims, id, till)
    end
  end
  return 1 + is_wanted(queue, id)
end

local reply = {}
for i = 2, #ARGV do
  local k = (i - 2) * 4
  reply[#reply + 1] = one_of_many(0, renew, ARGV[i], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4])
end
return reply
