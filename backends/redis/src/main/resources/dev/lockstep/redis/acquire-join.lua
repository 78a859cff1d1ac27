-- The usual cases of acquire.lua for readers and for permits: nobody writes, waits, was given up or has died, and there is
-- room. It stands before common.lua for the reason of acquire-free.lua. Arguments as in acquire.lua.
if ARGV[2] == 'S' and redis.call('EXISTS', KEYS[2], KEYS[5]) == 0 then
  local known = redis.call('HMGET', KEYS[1], 'owner', 'token', 'limit', 'extra', 'format')
  local limit, permits = ARGV[8] or false, tonumber(ARGV[9] or 1)
  local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
  local free = not (known[1] or known[5]) and (known[3] == limit or not (known[3] or first))
  local extra = first and known[4] or 0
  if free and first then
    free = tonumber(first) > now and not redis.call('ZSCORE', KEYS[3], ARGV[1])
  end
  if free and first and limit then
    free = redis.call('ZCARD', KEYS[3]) + extra + permits <= tonumber(limit)
  end
  if free then
    local token = next_token(known[2])
    if limit then
      redis.call('HSET', KEYS[1], 'token', token, 'limit', limit, 'extra', extra + permits - 1)
    else
      redis.call('HSET', KEYS[1], 'token', token)
    end
    redis.call('HSET', KEYS[4], ARGV[1], reader_record(limit and permits, token, ARGV[7]))
    set_reader_until(KEYS[1], KEYS[3], KEYS[4], ARGV[1], now + ARGV[5])
    return { 1, token, 0 }
  end
end
