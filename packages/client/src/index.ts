export { createClient, type ClientOptions, type Crossbill } from './client.js';
export { CrossbillError, type ErrorCode, type FieldError } from './error.js';
export { NotVerifiedError, type NotVerifiedCode, type ReceivedHeaders, verifyWebhook } from './webhook.js';
export { type KnownCode, type Notification } from './generated/operations.js';
export { type CallOptions, type Fetch, type Pages, type Schemas } from './types.js';
