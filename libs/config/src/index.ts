export {
  CHAIN_ID_SETTING,
  FINALITY_SETTING,
  PAYOUT_EXPIRY_MARGIN_SETTING,
  RPC_URLS_SETTING,
  TOKEN_CONTRACT_SETTING,
} from './chain.settings.js';
export {
  type AppSettings,
  appSettings,
  renderEnvExample,
  renderSettingsPage,
} from './env-example.js';
export {
  address,
  base64Key,
  commaList,
  finality,
  naturalBigInt,
  oneOf,
  url,
  urlList,
} from './parsers.js';
export { readSettings, type SettingsSource } from './read-settings.js';
export {
  DatabaseSettings,
  EVIDENCE_KEY_SETTING,
  MANAGEMENT_PORT_SETTING,
  SECRETS_KEY_SETTING,
  SecretsSettings,
  ServiceSettings,
  REDIS_URL_SETTING,
  SHUTDOWN_DELAY_SETTING,
} from './service.settings.js';
export {
  Setting,
  type SettingMetadata,
  type SettingOptions,
  type SettingsClass,
  settingsOf,
} from './setting.js';
export { SettingsError } from './settings.error.js';
export { prepareTracing, tracesExportersAreKnown, tracingIsWanted } from './tracing-environment.js';
export { trustedProxies } from './trusted-proxies.js';
export { environmentOrStack, STACK_FILE } from './stack-file.js';
export {
  developmentChain,
  type DevelopmentSetting,
  NODE_ENV_SETTING,
  openRedis,
  refuseDevelopment,
  localPages,
  privatePartners,
} from './production.js';
export { refuseSharedEvidenceKey } from './evidence-key.js';
