"""One engine a file: how it is started, set and sampled. Nothing here knows what an audit looks for."""
