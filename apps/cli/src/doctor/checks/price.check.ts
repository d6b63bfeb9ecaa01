import { type Price, PriceStore } from '#libs/db';
import { nameOfSources } from '#libs/price';
import { type Check } from '../check.js';
import { type Finding, notChecked, ok, warning } from '../finding.js';
import { type SeenPrice } from '../seen-price.js';
import { type Subject } from '../subject.js';
import { duration } from '../../output/text.js';

const NAME = 'price';
/** The indexer reads every minute: the stored price may be this much behind what the source says. */
const BEHIND_MS = 300_000;

/** Whether the indexer brings in what PRICE_SOURCE says: how old the newest stored price is, and whose. */
export const priceCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const { priceSource } = subject.settings;
    // Said by the check of the source.
    if (priceSource?.length === 0) return;
    const price = await new PriceStore(await subject.database()).newest();
    if (price === undefined) {
      yield priceSource === undefined
        ? notChecked(NAME, 'none is stored, and PRICE_SOURCE is not set')
        : warning(NAME, 'none is stored', mendOf(await subject.price()));
      return;
    }
    yield storedFinding(price, await subject.price(), subject);
  },
};

function storedFinding(price: Price, seen: SeenPrice, { clock, settings }: Subject): Finding {
  const { priceSource, priceMaxAgeSeconds } = settings;
  const ageMs = clock.nowMs() - price.observedAt.getTime();
  const found = `${price.usd} USD by ${price.source}, ${duration(ageMs)} old`;
  if (ageMs > priceMaxAgeSeconds * 1000) {
    return warning(
      NAME,
      `${found}: older than PRICE_MAX_AGE_SECONDS (${priceMaxAgeSeconds}), so it is left out and nothing is redeemed`,
      mendOf(seen),
    );
  }
  if (priceSource === undefined) return ok(NAME, found);
  const wanted = nameOfSources(priceSource);
  const [only] = priceSource.length === 1 ? priceSource : [];
  const isOtherFigure = only?.kind === 'fixed' && only.usd !== price.usd;
  if (wanted !== price.source || isOtherFigure) {
    const given = only?.kind === 'fixed' ? `${wanted}:${only.usd}` : wanted;
    return warning(
      NAME,
      `${found}; PRICE_SOURCE is ${given}`,
      'The indexer runs with another PRICE_SOURCE: restart it with this one, or correct it here.',
    );
  }
  const behindMs =
    seen.kind === 'read' ? seen.reading.observedAt.getTime() - price.observedAt.getTime() : 0;
  return behindMs > BEHIND_MS
    ? warning(NAME, `${found}; the source has one ${duration(behindMs)} newer`, mendOf(seen))
    : ok(NAME, found);
}

function mendOf(seen: SeenPrice): string {
  switch (seen.kind) {
    case 'failed':
      return 'Mend `price source`.';
    case 'read':
      return 'The source answers here: see whether an indexer runs (`indexer`), and look for the price in its log.';
    case 'off':
    case 'no-chain':
      return 'Check PRICE_SOURCE of the indexer, and look for the price in its log.';
  }
}
