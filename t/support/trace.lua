-- What LuaJIT's compiler logs about a function.

local traceinfo = require("jit.util").traceinfo
local traceerr = require("jit.vmdef").traceerr


-- This abort is about where a recording began, not about what it met: the counter that finds hot code was one that the
-- loop and the function share by chance. LuaJIT just begins anew.
local BEGUN_IN_THE_WRONG_PLACE = "leaving loop in root trace"


-- Calls the function from a loop of its own, and then anew from C, as nginx does once a request: there LuaJIT compiles
-- nothing that ends in a tail call of C. Returns "compiled", or all that kept it from being compiled as a whole.
return function(hot)
    local trouble = {}
    local wanted, compiled

    local function log(event, trace, _, _, code, detail)
        if event == "stop" then
            local link = traceinfo(trace).linktype
            if link == wanted then
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

    local function watch(link, call)
        -- Nothing that was compiled or counted before is in the way, nor a finalizer, which would abort a recording.
        collectgarbage()
        jit.flush()
        jit.opt.start("hotloop=56")
        wanted, compiled = link, false
        jit.attach(log, "trace")
        call(hot)
        jit.attach(log)
        if not compiled then
            trouble[#trouble + 1] = "no " .. link .. " was compiled"
        end
    end

    -- A C function that takes whatever the function returns.
    local from_c = loadstring("local hot = ... for i = 1, 1000 do table.sort({ i, i + 1 }, hot) end")
    jit.off(from_c)
    watch("loop", loadstring("local hot = ... for i = 1, 1000 do hot(i) end"))
    watch("return", from_c)
    return #trouble == 0 and "compiled" or table.concat(trouble, ", ")
end
