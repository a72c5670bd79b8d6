// Exports the settings to the rest of the program.
export {
  type Config,
  type DatabaseChoice,
  type DatabaseConfig,
  loadConfig,
  loadDatabaseConfig,
  notifies,
  secretValues,
} from './config.js';
export { envText, withDotEnv, type WithDotEnv } from './dot-env.js';
export { ConfigError, type SettingProblem } from './config-error.js';
export { withDatabase } from './database-url.js';
export { CONFIG, ConfigModule } from './config.module.js';
export { isLoopbackHost } from './addresses.js';
export { NO_PROXIES, type Proxies, proxiesOf, type Proxy, proxyFor, shownProxy } from './proxy.js';
export { API_ROLES, type ApiKey, type ApiRole, type GroupRole } from './kinds.js';
export { Secret } from './secret.js';
export { type Setting } from './setting.js';
export { SETTING_GROUPS, SETTINGS } from './settings.js';
export { stripeMode } from './stripe-mode.js';
export { VERSION } from './version.js';
export { redactedConfig, type ShownSetting } from './shown-settings.js';
