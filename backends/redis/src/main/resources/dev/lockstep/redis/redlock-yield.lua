-- Releases one server, because too few others agreed, and goes to the end of its queue.
-- ARGV: claim id, may wait, waiter expiry (ms), info
local id, may_wait, patience, info = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), ARGV[4]

load()
if recorded == id then
  clear_owner()
end
leave_queue(id)
serve({})
if may_wait then
  enter_queue(id)
  redis.call('HSET', CLAIMS, id, 'Xb 0 ' .. info)
  stay_in_queue(id, patience)
end
return 1
