// A log that writes nothing, for tests of the parts behind it.
import { createLogger } from '../../src/observe/index.js';

export const SILENT_LOG = createLogger({ level: 'silent', secrets: [], pretty: false });
