-- The usual cases of release.lua: the owner, a reader or a holder of one permit releases what it has, and nobody waits.
-- Stands before everything else for the reason of acquire-free.lua.
if ARGV[2] == '0' then
  local holder = redis.call('HGET', KEYS[1], 'owner')
  if redis.call('EXISTS', KEYS[2]) == 0 then
    if holder == ARGV[1] then
      redis.call('HDEL', KEYS[1], 'owner', 'until', 'info', 'wait')
      return 1
    end
    local known = redis.call('HMGET', KEYS[1], 'limit', 'extra', 'format')
    if not known[3] and (known[2] or '0') == '0' and redis.call('ZREM', KEYS[3], ARGV[1]) == 1 then
      if known[1] and redis.call('EXISTS', KEYS[3]) == 0 then
        redis.call('HDEL', KEYS[1], 'limit', 'extra')
        redis.call('DEL', KEYS[4])
      else
        redis.call('HDEL', KEYS[4], ARGV[1], 'w' .. ARGV[1])
      end
      return 1
    end
  end
end
