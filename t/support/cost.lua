-- What a compiled function costs, in counts instead of times.

local traceinfo = require("jit.util").traceinfo


local ATTEMPTS = 20
local CALLS = 10000


local function attempt(hot)
    local instructions = 0
    local function log(event, trace)
        if event == "stop" then
            instructions = instructions + traceinfo(trace).nins
        end
    end

    local loop = loadstring("local hot, count = ... for _ = 1, count do hot() end")
    jit.flush()
    jit.attach(log, "trace")
    loop(hot, 1000)
    jit.attach(log)

    collectgarbage()
    collectgarbage("stop")
    local before = collectgarbage("count")
    loop(hot, CALLS)
    local bytes = (collectgarbage("count") - before) * 1024 / CALLS
    collectgarbage("restart")
    return instructions, bytes
end


-- Calls the function from a hot loop. Returns how many instructions of its intermediate representation LuaJIT compiled
-- in all, and how many bytes each call left to the garbage collector. These are the lowest counts of some attempts: the
-- counters that find hot code are shared by chance, so now and then LuaJIT compiles a part by itself first.
return function(hot)
    local instructions, bytes = math.huge, math.huge
    for _ = 1, ATTEMPTS do
        local more_instructions, more_bytes = attempt(hot)
        -- No instructions means that nothing was compiled.
        if more_instructions > 0 then
            instructions, bytes = math.min(instructions, more_instructions), math.min(bytes, more_bytes)
        end
    end
    return instructions, bytes
end
