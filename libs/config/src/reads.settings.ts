/**
 * Settings of the databases that snapshots are read from, and of how old the data may be. The doctor reads them too.
 */
import { type SettingOptions, urlList } from './setting.js';

export const DATABASE_READ_URLS_SETTING: SettingOptions = {
  description:
    'Standbys of the database that snapshots are read from, separated by commas; the primary takes over from one that fails or lags. Unset: the primary alone.',
  secret: true,
  optional: true,
  example: 'postgresql://lowmark_api:password@127.0.0.1:5433/lowmark?sslmode=disable',
  parse: urlList('postgresql', 'postgres'),
};

export const READ_MAX_LAG_SETTING: SettingOptions = {
  description:
    'How far behind the primary a standby may be for an answer to be read from it: no answer is older than its request by more.',
  default: '2',
  min: 1,
  max: 60,
};

/** INDEX_MAX_LAG_SECONDS, which is also the limit for the readiness of the indexer. */
export const INDEX_MAX_LAG_SETTING: SettingOptions = {
  description:
    'Snapshots are served only while the index is at most this far behind the clock, or past the end of the window asked for.',
  default: '120',
  min: 1,
};
