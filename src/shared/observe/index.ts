// Logging and metrics for the rest of the program.
export { createLogger, type Logger, type LoggerOptions, type LogLevel, loggerOf, NestLogger } from './logger.js';
export {
  type EventOutcome,
  type EventSource,
  type MeasuredOutcome,
  Metrics,
  type MetricsOptions,
  type Peer,
  type Queue,
} from './metrics.js';
export { MinuteLimit } from './minute-limit.js';
export { eventName } from './event-name.js';
export { type CallReport, type OnCall, watchCalls } from './watch-calls.js';
export { LOG, ObserveModule, ON_CALL } from './observe.module.js';
