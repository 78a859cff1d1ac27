-- Gives one server back, because too few others agreed, and goes to the end of its queue.
-- ARGV: claim id, may wait, waiter expiry (ms), info
local id, may_wait, patience, info = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), ARGV[4]

load()
if recorded == id then
  clear_owner()
end
leave_queue(id)
serve({})
if may_wait then
  local last = redis.call('ZRANGE', QUEUE, -1, -1, 'WITHSCORES')
  redis.call('ZADD', QUEUE, (last[2] or 0) + 1, id)
  redis.call('HSET', CLAIMS, id, 'Xb 0 ' .. info, 'x' .. id, now + patience)
  keep(QUEUE, patience)
  keep(CLAIMS, patience)
end
return 1
