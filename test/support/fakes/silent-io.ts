// A terminal that prints nothing and asks nothing, for tests of the code behind a command.
import { type Io } from '../../../src/frames/cli/io.js';

export const silentIo = (env: Io['env'] = {}): Io => ({
  env,
  cwd: '/',
  user: 'ada',
  out: () => Promise.resolve(),
  err: () => undefined,
  isTerminal: false,
  colours: false,
  columns: null,
  ask: () => Promise.resolve(''),
  signal: new AbortController().signal,
});
