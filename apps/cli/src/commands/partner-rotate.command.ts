import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CredentialStore } from '#libs/db';
import { KeyRing } from '#libs/signing';
import { issueCredential } from '../callback/issue-credential.js';
import { issuedText } from '../callback/issued-credential.js';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { withDatabase } from '../with-database.js';

interface Options {
  readonly json?: true;
  readonly as?: string;
}

/** `partner rotate`: one more credential, shown this once; the old ones stay good until they are revoked. */
export function partnerRotateCommand({ source, terminal }: CommandContext): Command {
  return new Command('rotate')
    .description('issue one more credential, printed once; the old ones work until revoked')
    .argument('<name>', 'name or id of the partner')
    .option('--json', 'print one line of JSON')
    .addOption(actorOption())
    .action(async (partner: string, options: Options) => {
      const settings = readSettings(PartnerSettings, source());
      const { minted, stored } = issueCredential(KeyRing.parse(settings.secretsKey));
      const command = {
        command: 'partner rotate',
        arguments: { keyPrefix: stored.keyPrefix },
        actor: actorOf(options),
      };
      const { partnerId } = await withDatabase(settings.databaseUrl, (database) =>
        onPartner(database, partner, command, (who, audit) =>
          new CredentialStore(database).add(who.partnerId, stored, audit),
        ),
      );
      terminal.out(issuedText({ partnerId, ...minted }, options.json === true));
      if (options.json !== true) {
        terminal.out('The old key works until `partner revoke` ends it.\n');
      }
    });
}
