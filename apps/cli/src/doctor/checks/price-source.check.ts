import { type LowmarkError } from '#libs/domain';
import {
  nameOfSources,
  type PriceReading,
  type PriceSource,
  type SourceReading,
} from '#libs/price';
import { duration } from '../../output/text.js';
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
    const { priceSource = [] } = subject.settings;
    const seen = await subject.price();
    switch (seen.kind) {
      case 'off':
        yield ok(NAME, 'PRICE_SOURCE is none: answers have no price, and nothing is redeemed');
        return;
      case 'no-chain':
        yield notChecked(
          NAME,
          `${nameOfSources(priceSource)}: no endpoint of the right chain answers`,
        );
        return;
      case 'failed':
        yield* seen.sources.map(sourceFinding);
        yield failedFinding(priceSource, seen.error);
        return;
      case 'read':
        yield* seen.sources.map(sourceFinding);
        yield readFinding(priceSource, seen.reading, subject);
    }
  },
};

/** One of several. */
function sourceFinding({ name, result, usd, error }: SourceReading): Finding {
  const what = `${NAME}: ${name}`;
  const figure = usd === undefined ? '' : `${usd} USD`;
  switch (result) {
    case 'used':
      return ok(what, figure);
    case 'apart':
      return warning(
        what,
        `${figure}: not what the others say`,
        'Look elsewhere what the token costs. Replace the source that is wrong.',
      );
    case 'stale':
      return warning(
        what,
        `${figure}: too old to count`,
        'The source stands still. Use another in its place.',
      );
    case 'refused':
    case 'failed': {
      const why = error && reachFailure(error);
      return warning(
        what,
        `${error?.message ?? 'no price'}${why === undefined ? '' : ` (${why})`}`,
        'The others go on without it as long as two of them agree. Mend or replace it.',
      );
    }
  }
}

function readFinding(
  sources: readonly PriceSource[],
  { usd, observedAt }: PriceReading,
  { clock, settings }: Subject,
): Finding {
  const { priceMaxAgeSeconds, redemptionPriceMaxAgeSeconds } = settings;
  const ageMs = Math.max(0, clock.nowMs() - observedAt.getTime());
  const found = `${usd} USD by ${nameOfSources(sources)}, ${duration(ageMs)} old`;
  if (ageMs > priceMaxAgeSeconds * 1000) {
    return warning(
      NAME,
      `${found}: older than PRICE_MAX_AGE_SECONDS (${priceMaxAgeSeconds}), so it is left out and nothing is redeemed`,
      'The feed stands still: use another, or, where its rounds are further apart by design, a longer PRICE_MAX_AGE_SECONDS.',
    );
  }
  return ageMs > redemptionPriceMaxAgeSeconds * 1000
    ? warning(
        NAME,
        `${found}: older than REDEMPTION_PRICE_MAX_AGE_SECONDS (${redemptionPriceMaxAgeSeconds}), so nothing is redeemed`,
        'Where the rounds of the feed are further apart by design, a longer REDEMPTION_PRICE_MAX_AGE_SECONDS, or a source that is asked each minute beside it.',
      )
    : ok(NAME, found);
}

function failedFinding(sources: readonly PriceSource[], error: LowmarkError): Finding {
  const why = reachFailure(error);
  const found = `${nameOfSources(sources)}: ${error.message}${why === undefined ? '' : ` (${why})`}`;
  return warning(NAME, found, mendFor(sources, error));
}

function mendFor(sources: readonly PriceSource[], { code, retryable }: LowmarkError): string {
  if (sources.length > 1) {
    return 'Two sources have to agree within PRICE_MAX_SPREAD. Mend or replace those above that are wrong.';
  }
  if (sources[0]?.kind === 'chainlink') {
    if (code === 'NOT_A_PRICE_FEED') {
      return 'Correct the address in PRICE_SOURCE: that of the feed (its proxy) on this chain.';
    }
    if (code === 'PRICE_FEED_DISAGREES') {
      return 'One of the endpoints of RPC_URLS is wrong or on a fork: find out which, and replace it.';
    }
    return retryable
      ? 'See `rpc`: the feed is read through RPC_URLS, from two endpoints where there are two.'
      : 'Look at the feed at its operator; where it was given up, let PRICE_SOURCE name another.';
  }
  return retryable
    ? 'Try the URL of PRICE_SOURCE from this machine: host, way there, certificate, key. The last price stands until it is too old.'
    : 'Correct the JSON pointer behind the # of PRICE_SOURCE: it has to lead to a number above 0 in what the URL answers.';
}
