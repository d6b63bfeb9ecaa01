import { PriceStore } from '#libs/db';
import { type Check } from '../check.js';
import { notChecked, ok, warning } from '../finding.js';
import { duration } from '../../output/moments.js';

const NAME = 'price';
const NONE = 'none';

/** Whether the indexer brings in prices: how old the newest one is. */
export const priceCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  async *look(subject) {
    const { priceSource, priceMaxAgeSeconds } = subject.settings;
    if (priceSource === NONE) {
      yield ok(NAME, 'PRICE_SOURCE is none: answers have no price, and nothing is redeemed');
      return;
    }
    const price = await new PriceStore(await subject.database()).newest();
    if (price === undefined) {
      yield priceSource === undefined
        ? notChecked(NAME, 'none is stored, and PRICE_SOURCE is not set')
        : warning(NAME, 'none is stored', 'Look for the price in the log of the indexer.');
      return;
    }
    const ageMs = subject.clock.nowMs() - price.observedAt.getTime();
    const found = `${price.usd} USD by ${price.source}, ${duration(ageMs)} old`;
    yield ageMs <= priceMaxAgeSeconds * 1000
      ? ok(NAME, found)
      : warning(
          NAME,
          `${found}: older than PRICE_MAX_AGE_SECONDS (${priceMaxAgeSeconds}), so it is left out and nothing is redeemed`,
          'Check PRICE_SOURCE and look for the price in the log of the indexer.',
        );
  },
};
