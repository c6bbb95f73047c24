std = "ngx_lua"
globals = {}
max_line_length = 120
exclude_files = { "dist", "target" }
