/** Settings of the publishing of day roots that several programs read. */
import { type Address, isStakeSetName, STAKE_SET_RULE } from '#libs/domain';
import { address, commaList, privateKey, type SettingOptions } from './setting.js';

export interface SetRegistry {
  /** Undefined for the stake set of STAKE_SET. */
  readonly stakeSet: string | undefined;
  readonly registry: Address;
}

export const REGISTRY_ADDRESS_SETTING: SettingOptions = {
  description:
    'The SnapshotRegistry on the chain of CHAIN_ID for the roots of sealed days of STAKE_SET; for several stake sets NAME=ADDRESS each, separated by commas. Unset: nothing is published.',
  optional: true,
  parse: registries,
};

export const REGISTRY_PRIVATE_KEY_SETTING: SettingOptions = {
  description:
    'Publishes; its address holds PUBLISHER_ROLE of the registry and some coin for gas. A key of its own: none of those of the vault.',
  secret: true,
  optional: true,
  parse: privateKey,
};

/** The registry of a stake set; undefined where it has none. @param own the value of STAKE_SET */
export function registryOf(
  registries: readonly SetRegistry[] | undefined,
  own: string,
): Address | undefined {
  return registries?.find(({ stakeSet = own }) => stakeSet === own)?.registry;
}

function registries(text: string): SetRegistry[] {
  const parts = commaList(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && !only.includes('=')) {
    return [{ stakeSet: undefined, registry: address(only) }];
  }
  const found = parts.map((part) => {
    const [, stakeSet = '', digits = ''] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    if (!isStakeSetName(stakeSet)) {
      throw new Error(
        `must be an address, or NAME=ADDRESS for each stake set; NAME: ${STAKE_SET_RULE}`,
      );
    }
    return { stakeSet, registry: address(digits) };
  });
  const isTwice = (values: readonly string[]): boolean => new Set(values).size < values.length;
  if (isTwice(found.map((one) => one.stakeSet)) || isTwice(found.map((one) => one.registry))) {
    throw new Error('must name each stake set and each registry once');
  }
  return found;
}
