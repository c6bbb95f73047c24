"""Real engines, each with the functions of its file in readers/sql/. They end with the test."""
