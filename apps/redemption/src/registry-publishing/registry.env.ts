import {
  Constant,
  REGISTRY_ADDRESS_SETTING,
  REGISTRY_PRIVATE_KEY_SETTING,
  SecretsSettings,
  type SetRegistry,
  Setting,
} from '#libs/config';
import { parseDay } from '#libs/domain';

export abstract class RegistrySettings extends SecretsSettings {
  @Setting(REGISTRY_ADDRESS_SETTING)
  readonly registryAddress?: readonly SetRegistry[];

  @Setting(REGISTRY_PRIVATE_KEY_SETTING)
  readonly registryPrivateKey?: string;

  @Setting({
    description:
      'The first day that is published, as 2026-01-31; must be set if REGISTRY_ADDRESS is. Each day since then costs gas.',
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

  /** Between two looks at the registry: a day is published hours after its end, so a minute more does not matter. */
  @Constant()
  readonly registryPollMs: number = 60_000;
}

function day(text: string): number {
  const parsed = parseDay(text);
  if (parsed === undefined) throw new Error('must be a day, as 2026-01-31');
  return parsed;
}
