import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { KeyRing } from '#libs/signing';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { jsonLine } from '../output/json-line.js';
import { neededOf, secretsStatus } from '../secrets/secrets-status.js';
import { statusText } from '../secrets/status-text.js';
import { withDatabase } from '../with-database.js';

/** `secrets status`: which keys are in use; fails where one that is needed is not there. */
export function secretsStatusCommand({ source, terminal }: CommandContext): Command {
  return new Command('status')
    .description('say which keys seal the stored secrets; never a secret')
    .option('--json', 'print one line of JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      const settings = readSettings(PartnerSettings, source());
      const keyRing = KeyRing.parse(settings.secretsKey);
      const uses = await withDatabase(settings.databaseUrl, (database) =>
        secretsStatus(database, keyRing),
      );
      terminal.out(json === true ? jsonLine(uses) : statusText(uses));
      if (uses.some((use) => use.standing === 'missing' && neededOf(use) > 0)) {
        throw new CommandFailed();
      }
    });
}
