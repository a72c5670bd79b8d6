// Loaded into the daemon before its program: asks it to stop after the demo, its parent, has gone in any way.
process.stdin.resume();
process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
