std = "ngx_lua"
globals = {}
max_line_length = 120
exclude_files = { "dist", "target" }
files["packaging/kong"].read_globals = { "kong" }
files["examples/haproxy"] = { std = "lua53", read_globals = { "core" } }
