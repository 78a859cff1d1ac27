-- Returns what a server knows of the set to which it belongs.
-- KEYS: charter; ARGV: the client's ttl (ms), number of servers, what to do if there is no charter: look, admit or found
-- Returns {} if there is none, which only a look leaves so; else {age (ms), longest ttl (ms), number of servers}
if ARGV[3] == 'look' and redis.call('EXISTS', CHARTER) == 0 then
  return {}
end
return { charter(tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == 'found') }
