// Loaded into the daemon before its program: stops the daemon when the demo, its parent, ends in any way.
process.stdin.resume();
process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
