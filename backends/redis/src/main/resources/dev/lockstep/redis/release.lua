-- Releases what a claim has: the lock, a reader's part of it, or a place in the queue. Serves the next claim.
-- ARGV: claim id, how long to remember that it is gone (ms; 0 if no request for it can still be on its way)
-- Returns 1 if it had the lock, else 0
local id, remember = ARGV[1], tonumber(ARGV[2])
local had = 0

load()
if recorded == id then
  had = 1
  clear_owner()
  if redis.call('EXISTS', QUEUE) == 1 then
    purge_readers()
    serve({})
  end
elseif redis.call('EXISTS', QUEUE, READERS) > 0 then
  had = remove_reader(id)
  leave_queue(id)
  purge_readers()
  serve({})
  forget_unused()
end
if had == 0 or remember > 0 then
  require_writable()
end
if remember > 0 then
  redis.call('ZADD', GONE, now + remember, id)
  redis.call('PEXPIRE', GONE, math.max(remember, redis.call('PTTL', GONE)))
end
return had
