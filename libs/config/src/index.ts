export {
  CHAIN_ID_SETTING,
  DatabaseSettings,
  EVIDENCE_KEY_SETTING,
  FINALITY_SETTING,
  MANAGEMENT_PORT_SETTING,
  PAYOUT_EXPIRY_MARGIN_SETTING,
  REDIS_URL_SETTING,
  refuseSharedEvidenceKey,
  RPC_URLS_SETTING,
  SECRETS_KEY_SETTING,
  SecretsSettings,
  ServiceSettings,
  SHUTDOWN_DELAY_SETTING,
  TOKEN_CONTRACT_SETTING,
  trustedProxies,
} from './service.settings.js';
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
  Setting,
  type SettingMetadata,
  type SettingOptions,
  type SettingsClass,
  SettingsError,
  settingsOf,
  url,
  urlList,
} from './setting.js';
export { readSettings, type SettingsSource } from './read-settings.js';
export { prepareTracing, tracesExportersAreKnown, tracingIsWanted } from './tracing-environment.js';
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
