"""Engine: prompt -> tokens + trace. Imports `drafters` and the rooms above; has never heard of `witness`."""
