import {
  REGISTRY_ADDRESS_SETTING,
  REGISTRY_PRIVATE_KEY_SETTING,
  SecretsSettings,
  type SetRegistry,
  Setting,
} from '#libs/config';
import { parseDay } from '#libs/domain';
import { smallestUnits } from '../setting-values.js';

export abstract class RegistrySettings extends SecretsSettings {
  @Setting(REGISTRY_ADDRESS_SETTING)
  readonly registryAddress?: readonly SetRegistry[];

  @Setting(REGISTRY_PRIVATE_KEY_SETTING)
  readonly registryPrivateKey?: string;

  @Setting({
    description:
      'The first day that is published, as 2026-01-31; must be set where REGISTRY_ADDRESS is. Each day since then costs gas.',
    optional: true,
    example: '2026-01-01',
    parse: day,
  })
  readonly registryFirstDay?: number;

  @Setting({
    description:
      'A day is published no earlier than so long after it was sealed: until then a mistake is still a new revision, afterwards it is for ever.',
    default: '21600',
    min: 0,
    max: 2_592_000,
  })
  readonly registryDelaySeconds!: number;

  /** In wei; the variable is in gwei. */
  @Setting({
    description:
      'The highest price of gas, in gwei, at which a publication is signed, whatever a node says. Above it publishing waits.',
    default: '100',
    parse: smallestUnits(9),
  })
  readonly registryMaxFeeGwei!: bigint;

  @Setting({
    description:
      'The most gas that a publication is signed with. Some rollups count what they pay to their parent chain as gas.',
    default: '1000000',
    min: 21_000,
    max: 1_000_000_000,
  })
  readonly registryMaxGas!: number;

  /** In wei; the variable is in whole coins. */
  @Setting({
    description:
      "The most of the chain's coin that publications can cost on a UTC day, all processes together. What is beyond it waits for the next day.",
    default: '0.1',
    parse: smallestUnits(18),
  })
  readonly registryDailyCoin!: bigint;

  @Setting({
    description:
      'A transaction that is in no block after so long is replaced by one that pays more.',
    default: '300',
    min: 1,
    max: 86_400,
  })
  readonly registryReplaceSeconds!: number;

  @Setting({
    description: 'How often the registry is looked at while something is to be published.',
    default: '60000',
    min: 50,
    max: 3_600_000,
  })
  readonly registryPollMs!: number;
}

function day(text: string): number {
  const parsed = parseDay(text);
  if (parsed === undefined) throw new Error('must be a day, as 2026-01-31');
  return parsed;
}
