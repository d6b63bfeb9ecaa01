import {
  Constant,
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

  /**
   * Between the sealing of a day and its publication: until then a mistake is still a new revision, afterwards it is for
   * ever. Six hours hold the nightly audit and an operator's morning.
   */
  @Constant()
  readonly registryDelaySeconds: number = 21_600;

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

  /** Between two looks at the registry: a day is published hours after its end, so a minute more does not matter. */
  @Constant()
  readonly registryPollMs: number = 60_000;
}

function day(text: string): number {
  const parsed = parseDay(text);
  if (parsed === undefined) throw new Error('must be a day, as 2026-01-31');
  return parsed;
}
