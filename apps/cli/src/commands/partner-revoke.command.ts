import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import { CredentialStore } from '#libs/db';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { withDatabase } from '../with-database.js';

/** No more of a key is stored in the clear; more of it, perhaps all, would end up in the audit. */
const PREFIX = /^svck_[A-Za-z0-9_-]{1,7}$/;

interface Options {
  readonly keyPrefix: string;
  readonly force?: true;
  readonly as?: string;
}

/** `partner revoke`: ends one credential. */
export function partnerRevokeCommand({ source, terminal }: CommandContext): Command {
  return new Command('revoke')
    .description('end a credential; refuses the last active one')
    .argument('<name>', 'name or id of the partner')
    .requiredOption(
      '--key-prefix <svck_…>',
      'the first characters of the key, 12 at most, as `partner list` shows them',
      keyPrefix,
    )
    .option('--force', 'also the last active one: every call of the partner is refused then')
    .addOption(actorOption())
    .action(async (partner: string, options: Options) => {
      const settings = readSettings(OperatorSettings, source());
      const force = options.force === true;
      const command = {
        command: 'partner revoke',
        arguments: { keyPrefix: options.keyPrefix, force },
        actor: actorOf(options),
      };
      const revoked = await withDatabase(settings.databaseUrl, (database) =>
        onPartner(database, partner, command, (who, audit) =>
          new CredentialStore(database).revoke(
            { partner: who.partnerId, keyPrefix: options.keyPrefix, force },
            audit,
          ),
        ),
      );
      terminal.out(
        `${revoked.keyPrefix}… is revoked; ${revoked.left} active left. The api may know the key for some seconds more.\n`,
      );
    });
}

function keyPrefix(text: string): string {
  if (!PREFIX.test(text)) {
    throw new InvalidArgumentError('Expected svck_ and 1 to 7 characters more, not the whole key.');
  }
  return text;
}
