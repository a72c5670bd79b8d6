// Node loads this file before the program of the daemon or shop. This file stops the process when its parent ends.
process.stdin.resume();
process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
