import { refuseSharedEvidenceKey } from '#libs/config';
import { CallbackStore, EvidenceAdoption, type StoredRedemption } from '#libs/db';
import { EvidenceKeys } from '#libs/signing';
import { AdoptSettings } from '../cli.env.js';
import { command } from '../command.js';
import { AS, YES } from '../options.js';
import { printable, table, tokensText } from '../output/text.js';

/** Open redemptions of before EVIDENCE_KEY get their MAC, once a person has looked at them. */
export const adopt = command({
  name: 'adopt',
  description: 'vouch for open redemptions that were written without EVIDENCE_KEY',
  options: [AS, YES],
  settings: AdoptSettings,
  async action(call) {
    const { evidenceKey, secretsKey } = call.settings;
    if (secretsKey !== undefined) refuseSharedEvidenceKey(evidenceKey, secretsKey);
    await call.withDatabase(async (database) => {
      const adoption = new EvidenceAdoption(database, EvidenceKeys.parse(evidenceKey));
      const foreign = await adoption.foreign();
      if (foreign.length === 0) {
        call.terminal.out('Every open redemption bears the MAC of the service.\n');
        return;
      }
      // Read where the redemption service may read them too.
      const callbacks = await new CallbackStore(database).list();
      const names = callbacks.map(
        ({ partnerId, partnerName }) => [partnerId, partnerName] as const,
      );
      call.terminal.out(foreignText(foreign, new Map(names)));
      await call.confirm(
        'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
      );
      let adopted = 0;
      for (const one of foreign) {
        if (await adoption.adopt(one, call.actor)) adopted += 1;
      }
      call.terminal.out(`Adopted ${adopted} of ${foreign.length}.\n`);
    });
  },
});

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
