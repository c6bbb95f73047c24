-- What LuaJIT's compiler logs about a function.

local traceinfo = require("jit.util").traceinfo
local traceerr = require("jit.vmdef").traceerr


-- This abort is about where a recording began, not about what it met: the counter that finds hot code was one that the
-- loop and the function share by chance. LuaJIT just begins anew.
local BEGUN_IN_THE_WRONG_PLACE = "leaving loop in root trace"


-- Calls the function from a loop of its own and returns "compiled", or all that kept it from being compiled as a whole.
return function(hot)
    local compiled = false
    local trouble = {}

    local function log(event, trace, _, _, code, detail)
        if event == "stop" then
            local link = traceinfo(trace).linktype
            if link == "loop" then
                compiled = true
            elseif link == "stitch" or link == "interpreter" then
                trouble[#trouble + 1] = link
            end

        elseif event == "abort" then
            local reason = traceerr[code]
            if reason ~= BEGUN_IN_THE_WRONG_PLACE then
                trouble[#trouble + 1] = "abort: " .. reason:format(tostring(detail))
            end
        end
    end

    -- Nothing that was compiled or counted before is in the way, nor a finalizer, which would abort a recording.
    collectgarbage()
    jit.flush()
    jit.opt.start("hotloop=56")
    local loop = loadstring("local hot = ... for i = 1, 1000 do hot(i) end")
    jit.attach(log, "trace")
    loop(hot)
    jit.attach(log)

    if not compiled then
        trouble[#trouble + 1] = "the loop was not compiled"
    end
    return #trouble == 0 and "compiled" or table.concat(trouble, ", ")
end
