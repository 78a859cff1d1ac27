-- The facts that one of several independent servers remembers for all clients; put before the scripts that need it.
--
-- The last of KEYS is the charter, a hash:
--   run      the run of the server that wrote it; another one means that the server was restarted
--   born     since when the server has lost nothing (ms)
--   longest  the longest ttl that a client has announced (ms)
--   servers  how many servers there are
-- A server has a vote when it is older than the longest ttl: what it may have forgotten has ended by then.
local CHARTER = KEYS[#KEYS]

-- Reads and repairs the charter. A server without one is born now; founding, it is as old as its run.
-- Returns age (ms), longest ttl (ms), number of servers
local function charter(announced, servers, founding)
  local report = redis.call('INFO', 'server')
  local run = string.match(report, 'run_id:(%w+)')
  local fields = redis.call('HMGET', CHARTER, 'run', 'born', 'longest', 'servers')
  local born, longest = tonumber(fields[2]), tonumber(fields[3] or 0)
  if fields[1] ~= run then
    born = now
    if fields[1] or founding then
      born = now - tonumber(string.match(report, 'uptime_in_seconds:(%d+)')) * 1000
    end
    redis.call('HSET', CHARTER, 'run', run, 'born', born, 'servers', fields[4] or servers)
  end
  if announced > longest then
    longest = announced
    redis.call('HSET', CHARTER, 'longest', longest)
  end
  return now - born, longest, tonumber(fields[4] or servers)
end
