"""What people and programs use graphmem through: the command line, stories as files, the demo."""
