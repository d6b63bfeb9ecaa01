import { type LowmarkError } from '#libs/domain';
import { nameOfSource, type PriceReading, type PriceSource } from '#libs/price';
import { duration } from '../../output/moments.js';
import { type Check } from '../check.js';
import { type Finding, notChecked, ok, warning } from '../finding.js';
import { reachFailure } from '../reach-failure.js';
import { type Subject } from '../subject.js';

const NAME = 'price source';

/** What PRICE_SOURCE says now, asked once as the indexer asks it; nothing is stored. */
export const priceSourceCheck: Check = {
  name: NAME,
  needs: ['PRICE_SOURCE'],
  async *look(subject) {
    const { priceSource: source = { kind: 'none' } } = subject.settings;
    const seen = await subject.price();
    switch (seen.kind) {
      case 'off':
        yield ok(NAME, 'PRICE_SOURCE is none: answers have no price, and nothing is redeemed');
        return;
      case 'no-chain':
        yield notChecked(NAME, `${nameOfSource(source)}: no endpoint of the right chain answers`);
        return;
      case 'failed':
        yield failedFinding(source, seen.error);
        return;
      case 'read':
        yield readFinding(source, seen.reading, subject);
    }
  },
};

function readFinding(
  source: PriceSource,
  { usd, observedAt }: PriceReading,
  { clock, settings }: Subject,
): Finding {
  const { priceMaxAgeSeconds } = settings;
  const ageMs = Math.max(0, clock.nowMs() - observedAt.getTime());
  const found = `${usd} USD by ${nameOfSource(source)}, ${duration(ageMs)} old`;
  return ageMs <= priceMaxAgeSeconds * 1000
    ? ok(NAME, found)
    : warning(
        NAME,
        `${found}: older than PRICE_MAX_AGE_SECONDS (${priceMaxAgeSeconds}), so it is left out and nothing is redeemed`,
        'The feed stands still: use another, or, where its rounds are further apart by design, a longer PRICE_MAX_AGE_SECONDS.',
      );
}

function failedFinding(source: PriceSource, error: LowmarkError): Finding {
  const why = reachFailure(error);
  const found = `${nameOfSource(source)}: ${error.message}${why === undefined ? '' : ` (${why})`}`;
  return warning(NAME, found, mendFor(source, error));
}

function mendFor({ kind }: PriceSource, { code, retryable }: LowmarkError): string {
  if (kind === 'chainlink') {
    if (code === 'NOT_A_PRICE_FEED') {
      return 'Correct the address in PRICE_SOURCE: that of the feed (its proxy) on this chain.';
    }
    return retryable
      ? 'See `rpc`: the feed is read through RPC_URLS.'
      : 'Look at the feed at its operator; where it was given up, let PRICE_SOURCE name another.';
  }
  return retryable
    ? 'Try the URL of PRICE_SOURCE from this machine: host, way there, certificate, key. The last price stands until it is too old.'
    : 'Correct the JSON pointer behind the # of PRICE_SOURCE: it has to lead to a number above 0 in what the URL answers.';
}
