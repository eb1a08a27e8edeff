"""Command line: words -> rooms, one verb a file. The only room that knows typer and rich."""
