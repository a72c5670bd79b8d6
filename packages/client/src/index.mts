// For `import`: the same module as for `require`, so that there is one CrossbillError in a process.
export { createClient, CrossbillError, NotVerifiedError, verifyWebhook } from './index.js';
export type * from './index.js';
