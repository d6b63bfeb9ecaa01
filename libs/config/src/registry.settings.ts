/** Settings of the publishing of day roots that several programs read. */
import { privateKey } from './redemption.settings.js';
import { address, type SettingOptions } from './setting.js';

export const REGISTRY_ADDRESS_SETTING: SettingOptions = {
  description:
    'The SnapshotRegistry of the stake set on the chain of CHAIN_ID, in which the roots of sealed days are published. Unset: nothing is published.',
  optional: true,
  parse: address,
};

export const REGISTRY_PRIVATE_KEY_SETTING: SettingOptions = {
  description:
    'Publishes; its address holds PUBLISHER_ROLE of the registry and some coin for gas. A key of its own: none of those of the vault.',
  secret: true,
  optional: true,
  parse: privateKey,
};
