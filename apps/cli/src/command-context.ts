import { type SettingsSource } from '#libs/config';
import { type Clock } from '#libs/platform';
import { type Terminal } from './commands/terminal.js';

/** What every command works with. */
export interface CommandContext {
  readonly source: () => SettingsSource;
  readonly terminal: Terminal;
  readonly clock: Clock;
}
