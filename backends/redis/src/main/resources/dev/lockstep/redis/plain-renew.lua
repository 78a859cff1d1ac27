-- Compare and prolong, as many locks as there are keys. KEYS: lock and token of each; ARGV: ttl (ms), values
-- Returns for each 1, or 0 if it is lost
local reply = {}
for i = 2, #ARGV do
  local lock, token = KEYS[2 * i - 3], KEYS[2 * i - 2]
  local mine = redis.call('GET', lock) == ARGV[i]
  if mine then
    redis.call('PEXPIRE', lock, ARGV[1])
    redis.call('PEXPIRE', token, ARGV[1] + 1200000)
  end
  reply[#reply + 1] = mine and 1 or 0
end
return reply
