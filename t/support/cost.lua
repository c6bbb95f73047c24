-- What a compiled function costs, in counts that no noise can change.

local traceinfo = require("jit.util").traceinfo


-- Calls the function from a hot loop. Returns how many traces LuaJIT compiled for it, how many instructions of its
-- intermediate representation they have in all, and how many bytes each call left to the garbage collector.
return function(hot)
    local COUNT = 100000
    local traces, instructions = 0, 0
    local function log(event, trace)
        if event == "stop" then
            traces = traces + 1
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
    loop(hot, COUNT)
    local bytes = (collectgarbage("count") - before) * 1024 / COUNT
    collectgarbage("restart")
    return traces, instructions, bytes
end
