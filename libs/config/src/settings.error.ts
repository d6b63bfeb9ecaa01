import { PermanentError } from '#libs/domain';

/**
 * Settings that the program cannot start with: every wrong variable with what is expected of it, never its value.
 */
export class SettingsError extends PermanentError {
  constructor(readonly faults: ReadonlyMap<string, string>) {
    const lines = [...faults].map(([variable, fault]) => `  ${variable} ${fault}`);
    super('SETTINGS_INVALID', `The settings are not usable:\n${lines.join('\n')}`);
  }
}
