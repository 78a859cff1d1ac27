-- Ends the hold that has a token, notifies its holder, and serves the next claim.
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
      remove_reader(id)
    end
  end
end
if not holder then
  require_writable()
  return 0
end
tell(holder, 'revoked')
serve({})
forget_unused()
return 1
