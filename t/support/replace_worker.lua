-- Waits until all four workers have put their process ids into a shared dictionary, kills one that is not this one, and
-- returns whether a new one takes its place.

local kill = require "support.kill"
local wait_until = require "support.wait_until"


return function(pids)
    wait_until(function() return #pids:get_keys() == 4 end)
    local other = (ngx.worker.id() + 1) % 4
    local killed = pids:get(other)
    kill(killed, "KILL")
    return wait_until(function() return pids:get(other) ~= killed end)
end
