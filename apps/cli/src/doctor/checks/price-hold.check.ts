import { PriceStore } from '#libs/db';
import { HELD_BECAUSE } from '../../commands/price.command.js';
import { type Check } from '../check.js';
import { fault, ok, warning } from '../finding.js';

const NAME = 'price limits';

/** Whether a price waits for an operator, and whether a wrong one would. */
export const priceHoldCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const { priceSource = [], priceMinUsd, priceMaxUsd } = subject.settings;
    const { hold } = await new PriceStore(await subject.database()).standing();
    if (hold !== undefined) {
      const before = hold.beforeUsd === undefined ? 'none before' : `${hold.beforeUsd} before`;
      yield fault(
        NAME,
        `held: ${hold.price.usd} USD, ${before}: ${HELD_BECAUSE[hold.reason] ?? hold.reason}; nothing is redeemed`,
        'Look elsewhere what the token costs, then `price accept` with that figure, or mend the source.',
      );
    }
    if (priceSource.length === 0) return;
    const missing = [
      ...(priceMinUsd === undefined ? ['PRICE_MIN_USD'] : []),
      ...(priceMaxUsd === undefined ? ['PRICE_MAX_USD'] : []),
    ];
    if (missing.length > 0) {
      yield warning(
        NAME,
        `${missing.join(' and ')} not set: a price that drifts slowly enough is followed without end`,
        'Set both, for the indexer and for the redemption service.',
      );
    } else if (hold === undefined) {
      yield ok(NAME, 'both bounds are set, and no price is held');
    }
  },
};
