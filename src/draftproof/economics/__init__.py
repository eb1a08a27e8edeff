"""Economics: measurement -> prediction -> plan. Imports `engine` and the rooms above; has never heard of `witness`."""
