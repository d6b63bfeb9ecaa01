export {
  CHAIN_ID_SETTING,
  FINALITY_SETTING,
  MAX_RANGE_BLOCKS_SETTING,
  PAYOUT_EXPIRY_MARGIN_SETTING,
  RPC_URLS_SETTING,
  STAKE_CONTRACT_SETTING,
  STAKE_EVENTS_SETTING,
  STAKE_SET_SETTING,
  STAKE_SETS_SETTING,
  STAKE_START_BLOCK_SETTING,
  TOKEN_CONTRACT_SETTING,
} from './chain.settings.js';
export {
  CONSOLE_ORIGIN_SETTING,
  isLoopback,
  origin,
  PORTAL_DATABASE_URL_SETTING,
} from './console.settings.js';
export {
  DATABASE_DIRECT_URL_SETTING,
  DatabaseSettings,
  databaseUrl,
  EVIDENCE_KEY_SETTING,
  MANAGEMENT_PORT_SETTING,
  REDIS_URL_SETTING,
  REPLICAS_AT_MOST_SETTING,
  requireReplicasAtMost,
  refuseSharedEvidenceKey,
  SECRETS_KEY_SETTING,
  SecretsSettings,
  ServiceSettings,
  sessionUrl,
  SHUTDOWN_DELAY_SETTING,
  TRUSTED_PROXIES_SETTING,
} from './service.settings.js';
export {
  DATABASE_READ_URLS_SETTING,
  INDEX_MAX_LAG_SETTING,
  READ_MAX_LAG_SETTING,
  SIGNATURE_DEBUGGER_SETTING,
} from './reads.settings.js';
export {
  ALLOW_PRIVATE_PARTNERS_SETTING,
  REDEMPTION_PRICE_MAX_AGE_SETTING,
  SIWE_DOMAINS_SETTING,
  TOKEN_DECIMALS_SETTING,
  TOKEN_SYMBOL_SETTING,
  VAULT_CANCELLER_KEY_SETTING,
  VAULT_CONTRACT_SETTING,
  VAULT_PAUSER_KEY_SETTING,
  VOUCHER_SIGNER_KEY_SETTING,
  VOUCHER_TTL_SETTING,
} from './redemption.settings.js';
export {
  REGISTRY_ADDRESS_SETTING,
  REGISTRY_PRIVATE_KEY_SETTING,
  registryOf,
  type SetRegistry,
} from './registry.settings.js';
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
export { processEnvironment, readSettings, type SettingsSource } from './read-settings.js';
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
