-- Ends the hold that has a token, tells its holder, and serves who comes next.
-- ARGV: token
-- Returns 1 if there was such a hold, else 0
local meant = tonumber(ARGV[1])

load()
purge_readers()
local holder = owner and token == meant and owner
if holder then
  clear_owner()
else
  for _, id in ipairs(redis.call('ZRANGE', READERS, 0, -1)) do
    if token_of_reader(id) == meant then
      holder = id
      redis.call('ZREM', READERS, id)
      redis.call('HDEL', CLAIMS, id)
    end
  end
end
if not holder then
  redis.call('ZREMRANGEBYSCORE', GONE, '-inf', now) -- a server that may not write has not the last word, and refuses
  return 0
end
tell(holder, 'revoked')
serve({})
return 1
