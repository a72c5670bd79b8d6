// Loaded into the daemon before its program: asks it to stop when the demo that started it is gone, however that ended.
process.stdin.resume();
process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
