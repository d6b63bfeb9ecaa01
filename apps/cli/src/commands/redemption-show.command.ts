import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { PartnerStore, RedemptionMissingError, RedemptionViews } from '#libs/db';
import { type UuidV7 } from '#libs/domain';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { jsonLine } from '../output/json-line.js';
import { chainEvidence } from '../redemption/chain-evidence.js';
import { redemptionId } from '../redemption/redemption-id.js';
import { type Shown, showText } from '../redemption/show-text.js';
import { waitsFor } from '../redemption/waits-for.js';
import { withDatabase } from '../with-database.js';

/** `redemption show`: all that is known of one redemption, and what the chain says of it now. */
export function redemptionShowCommand(context: CommandContext): Command {
  return new Command('show')
    .description('show one redemption: timeline, calls, payout, confirmation, what it waits for')
    .argument('<id>', 'the redemption', redemptionId)
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      '\nThe chain is asked too where CHAIN_ID, RPC_URLS, FINALITY and TOKEN_CONTRACT are set.',
    )
    .action(async (id: UuidV7, { json }: { readonly json?: true }) => {
      const shown = await load(context, id);
      const nowMs = context.clock.nowMs();
      context.terminal.out(
        json === true ? jsonLine(shownJson(shown, nowMs)) : showText(shown, nowMs),
      );
    });
}

async function load({ source, clock }: CommandContext, id: UuidV7): Promise<Shown> {
  const settings = readSettings(OperatorSettings, source());
  const { history, partner } = await withDatabase(settings.databaseUrl, async (database) => {
    const found = await new RedemptionViews(database).show(id);
    if (found === undefined) throw new RedemptionMissingError(id);
    const known = await new PartnerStore(database).identify(found.redemption.partner);
    return { history: found, partner: known };
  });
  const live = await chainEvidence(history, source(), clock);
  return { history, partnerName: partner?.partnerName ?? 'unknown', live };
}

function shownJson({ history, partnerName, live }: Shown, nowMs: number): object {
  return { ...history, partnerName, waitsFor: waitsFor(history, nowMs), chain: live };
}
