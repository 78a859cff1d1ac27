-- Ends a claim's hold on this server, by its token, notifies its client, and serves the next claim.
-- ARGV: claim id, token. A server that the claim has and that has not written the token yet remembers a lower one.
-- Returns 1 if it was the claim's, 0 if not, -1 if it is the claim's with a higher token
load()
local claim = owner and string.match(owner, '^[^/]*')
if claim ~= ARGV[1] or token > tonumber(ARGV[2]) then
  require_writable()
  return claim == ARGV[1] and -1 or 0
end
tell(owner, 'revoked')
clear_owner()
serve({})
return 1
