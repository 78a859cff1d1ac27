-- The usual case of acquire.lua: the lock is free, and nobody waits, reads or was given up. It stands before everything else
-- because setting up the functions of common.lua takes the server longer than all of this. Arguments as in acquire.lua.
if ARGV[2] == 'X' then
  local known = redis.call('HMGET', KEYS[1], 'owner', 'token')
  if not known[1] and redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[5]) == 0 then
    local time = redis.call('TIME')
    local token = math.max((known[2] or 0) + 1, time[1] * 1000000 + time[2])
    local till = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[5]
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', till, 'token', token, 'info', ARGV[7])
    redis.call('PEXPIRE', KEYS[1], ARGV[5] + 1200000) -- TOKEN_KEPT of common.lua
    return { 1, token, 0 }
  end
end
