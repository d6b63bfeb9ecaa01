import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { decimalText, PriceAcceptanceStore } from '#libs/db';
import { type Decimal } from '#libs/domain';
import { positiveDecimal } from '../callback/number-parsers.js';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { audited } from '../operator/audited.js';
import { withDatabase } from '../with-database.js';

const COMMAND = 'price accept';

/** `price accept`: lets a price be used that is held. It names the figure, so that no other one is accepted by it. */
export function priceAcceptCommand({ source, terminal }: CommandContext): Command {
  return new Command('accept')
    .description('use a price that is held; one that is not near this figure stays held')
    .argument(
      '<usd>',
      'US dollars for one token, as you found them to be, and as `price show` has them',
      positiveDecimal,
    )
    .addOption(actorOption())
    .action(async (price: Decimal, { as }: { readonly as?: string }) => {
      const settings = readSettings(OperatorSettings, source());
      const actor = actorOf(as === undefined ? {} : { as });
      const usd = decimalText(price);
      const given = { command: COMMAND, arguments: { usd } };
      const hold = await withDatabase(settings.databaseUrl, (database) =>
        audited(database, { actor, ...given }, {}, () =>
          new PriceAcceptanceStore(database).accept(usd, {
            actor,
            note: { ...given, outcome: 'accepted' },
          }),
        ),
      );
      terminal.out(
        `Accepted ${usd} USD; ${hold.price.usd} was held. Redemptions go on with the next reading near it, within a minute.\n`,
      );
    });
}
