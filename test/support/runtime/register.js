// Lets Node import the project's TypeScript files in this process.
import * as modules from 'node:module';
import * as hooks from './hooks.js';

// Node 22.15 and later hook in this thread and deprecate `register`.
if (modules.registerHooks) modules.registerHooks(hooks);
else modules.register('./hooks.js', import.meta.url);
