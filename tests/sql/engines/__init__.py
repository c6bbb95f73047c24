"""Real engines, each with the functions of its file in sql/. They end with the test."""
