import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { KeyRing } from '#libs/signing';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { jsonLine } from '../output/json-line.js';
import { printable } from '../output/printable.js';
import { progressOf } from '../output/progress.js';
import { type LeftSecret, type Rewrapped, rewrapSecrets } from '../secrets/rewrap-secrets.js';
import { type KeyUse, secretsStatus } from '../secrets/secrets-status.js';
import { statusText } from '../secrets/status-text.js';
import { withDatabase } from '../with-database.js';

interface Options {
  readonly json?: true;
  readonly as?: string;
}

/** `secrets rewrap`: puts every stored secret under the first key of SECRETS_KEY; fails where one that is needed cannot be opened. */
export function secretsRewrapCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('rewrap')
    .description('seal every stored secret anew under the first key of SECRETS_KEY')
    .option('--json', 'print one line of JSON')
    .addOption(actorOption())
    .action(async (options: Options) => {
      const settings = readSettings(PartnerSettings, source());
      const keyRing = KeyRing.parse(settings.secretsKey);
      const progress = progressOf(terminal, clock);
      const { done, uses } = await withDatabase(settings.databaseUrl, async (database) => ({
        done: await rewrapSecrets({
          database,
          keyRing,
          actor: actorOf(options),
          onProgress: (seen) => {
            progress(`${seen} secrets looked at`);
          },
        }),
        uses: await secretsStatus(database, keyRing),
      }));
      terminal.out(options.json === true ? jsonLine({ ...done, keys: uses }) : textOf(done, uses));
      if (done.left.some(({ isRevoked }) => !isRevoked)) throw new CommandFailed();
    });
}

function textOf({ changed, unchanged, left }: Rewrapped, uses: readonly KeyUse[]): string {
  const summary = `Sealed anew: ${changed}. Sealed so already: ${unchanged}. Left as they are: ${left.length}.\n`;
  return `${summary}${left.map(leftText).join('')}\n${statusText(uses)}`;
}

function leftText({ place, partnerName, isRevoked, why }: LeftSecret): string {
  return `  ${isRevoked ? 'revoked ' : ''}${place} of ${printable(partnerName)}: ${why}\n`;
}
