import { Command } from 'commander';
import { readSettings, refuseSharedEvidenceKey } from '#libs/config';
import { CallbackStore, type Database, EvidenceAdoption, type StoredRedemption } from '#libs/db';
import { EvidenceKeys } from '#libs/signing';
import { AdoptSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { confirmed } from '../operator/confirmed.js';
import { tokensText } from '../output/amounts.js';
import { printable } from '../output/printable.js';
import { table } from '../output/table.js';
import { withDatabase } from '../with-database.js';

interface Options {
  readonly as?: string;
  readonly yes?: true;
}

/** `redemption adopt`: open redemptions of before EVIDENCE_KEY get their MAC, once a person has looked at them. */
export function redemptionAdoptCommand({ source, terminal }: CommandContext): Command {
  return new Command('adopt')
    .description('vouch for open redemptions that were written without EVIDENCE_KEY')
    .addOption(actorOption())
    .option('--yes', 'do not ask')
    .action(async (options: Options) => {
      const { databaseUrl, evidenceKey, secretsKey } = readSettings(AdoptSettings, source());
      if (secretsKey !== undefined) refuseSharedEvidenceKey(evidenceKey, secretsKey);
      await withDatabase(databaseUrl, async (database) => {
        const adoption = new EvidenceAdoption(database, EvidenceKeys.parse(evidenceKey));
        const foreign = await adoption.foreign();
        if (foreign.length === 0) {
          terminal.out('Every open redemption bears the MAC of the service.\n');
          return;
        }
        terminal.out(foreignText(foreign, await partnerNames(database)));
        if (options.yes !== true) {
          await confirmed(
            terminal,
            'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
          );
        }
        let adopted = 0;
        for (const one of foreign) {
          if (await adoption.adopt(one, actorOf(options))) adopted += 1;
        }
        terminal.out(`Adopted ${adopted} of ${foreign.length}.\n`);
      });
    });
}

/** Read where the redemption service may read them too. */
async function partnerNames(database: Database): Promise<ReadonlyMap<string, string>> {
  const callbacks = await new CallbackStore(database).list();
  return new Map(callbacks.map(({ partnerId, partnerName }) => [partnerId, partnerName]));
}

function foreignText(
  foreign: readonly StoredRedemption[],
  names: ReadonlyMap<string, string>,
): string {
  return table(
    ['REDEMPTION', 'STATE', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'TRANSACTION'],
    foreign.map(({ redemption }) => [
      redemption.id,
      redemption.state,
      printable(names.get(redemption.partner) ?? redemption.partner),
      redemption.wallet,
      redemption.points.toString(),
      tokensText(redemption),
      redemption.partnerTransactionId ?? '-',
    ]),
  );
}
