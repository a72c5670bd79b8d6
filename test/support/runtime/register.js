// Lets Node import our TypeScript files in this process.
import * as modules from 'node:module';
import * as hooks from './hooks.js';

// Since Node 22.15 in this thread, and from then on `register` is old.
if (modules.registerHooks) modules.registerHooks(hooks);
else modules.register('./hooks.js', import.meta.url);
