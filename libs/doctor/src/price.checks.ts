import { ANSWERED_PRICE_MAX_AGE_SECONDS, REDEEMED_PRICE_MAX_AGE_SECONDS } from '#libs/config';
import { type Price, PriceStore } from '#libs/db';
import { type LowmarkError } from '#libs/domain';
import {
  nameOfSources,
  type PriceReading,
  type PriceSource,
  type SourceReading,
} from '#libs/price';
import { duration, HELD_BECAUSE } from '#libs/operations';
import { type Answer, check, fault, notChecked, ok, SCHEMA, warning } from './checks.js';
import { type SeenPrice, type Subject } from './subject.js';

/** The indexer reads the price every minute, so the stored price may lag behind the source by this time. */
const BEHIND_MS = 300_000;

export const priceChecks = [
  // The current price of PRICE_SOURCE, read once as the indexer reads it, without storing it.
  check({ title: 'price source', needs: ['PRICE_SOURCE'], ask: sourceAnswers }),
  // Whether the indexer stores the price of PRICE_SOURCE: the age and the source of the newest stored price.
  check({ title: 'price', needs: SCHEMA, ask: storedAnswer }),
  // Whether a price waits for an operator's decision, and whether the limits would stop a wrong price.
  check({ title: 'price limits', needs: SCHEMA, ask: limitAnswers }),
];

async function sourceAnswers(subject: Subject): Promise<Answer | Answer[]> {
  const { priceSource = [] } = subject.settings;
  const seen = await subject.price();
  switch (seen.kind) {
    case 'off':
      return ok('PRICE_SOURCE is none: answers have no price, and nothing is redeemed');
    case 'no-chain':
      return notChecked(`${nameOfSources(priceSource)}: no endpoint of the right chain answers`);
    case 'failed':
      return [...seen.sources.map(oneSource), failedAnswer(priceSource, seen.error)];
    case 'read':
      return [...seen.sources.map(oneSource), readAnswer(priceSource, seen.reading, subject)];
  }
}

function oneSource(reading: SourceReading): Answer {
  return { ...oneAnswer(reading), title: `price source: ${reading.name}` };
}

function oneAnswer({ result, usd, error }: SourceReading): Answer {
  const figure = usd === undefined ? '' : `${usd} USD`;
  switch (result) {
    case 'used':
      return ok(figure);
    case 'apart':
      return warning(
        `${figure}: not what the others say`,
        'Look elsewhere what the token costs. Replace the source that is wrong.',
      );
    case 'stale':
      return warning(
        `${figure}: too old to count`,
        'The source stands still. Use another in its place.',
      );
    case 'refused':
    case 'failed':
      return warning(
        error === undefined ? 'no price' : failureText(error),
        'The others go on without it as long as two of them agree. Mend or replace it.',
      );
  }
}

function readAnswer(
  sources: readonly PriceSource[],
  { usd, observedAt }: PriceReading,
  { clock, settings }: Subject,
): Answer {
  const { answered, redeemed } = maxAgesSeconds(settings);
  const ageMs = Math.max(0, clock.nowMs() - observedAt.getTime());
  const found = `${usd} USD by ${nameOfSources(sources)}, ${duration(ageMs)} old`;
  if (ageMs > answered * 1000) {
    return warning(
      `${found}: older than ${duration(answered * 1000)}, so it is left out and nothing is redeemed`,
      'The feed stands still: use another, or, if its rounds are further apart by design, a longer PRICE_MAX_AGE_SECONDS.',
    );
  }
  return ageMs > redeemed * 1000
    ? warning(
        `${found}: older than ${duration(redeemed * 1000)}, so nothing is redeemed`,
        'If the rounds of the feed are further apart by design: PRICE_MAX_AGE_SECONDS, or a source that is asked each minute in its place.',
      )
    : ok(found);
}

function failedAnswer(sources: readonly PriceSource[], error: LowmarkError): Answer {
  const found = `${nameOfSources(sources)}: ${failureText(error)}`;
  return warning(found, failedRemedy(sources, error));
}

function failedRemedy(sources: readonly PriceSource[], { code, retryable }: LowmarkError): string {
  if (sources.length > 1) {
    return 'Two sources have to agree within 5 %. Mend or replace those above that are wrong.';
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

const CAUSES = 4;
const TELLING_NAMES = ['TimeoutError', 'RangeError', 'SyntaxError'];

/**
 * The message of an error with a code (`ECONNREFUSED`) or a name (`TimeoutError`) of its cause. The message of the
 * cause is left out, because it may contain the server's URL.
 */
function failureText({ message, cause: first }: LowmarkError): string {
  let cause = first;
  let named = '';
  for (let depth = 0; depth < CAUSES && typeof cause === 'object' && cause !== null; depth++) {
    const { code, name, cause: next } = cause as Readonly<Record<string, unknown>>;
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) return `${message} (${code})`;
    if (TELLING_NAMES.includes(String(name))) named = ` (${String(name)})`;
    cause = next;
  }
  return message + named;
}

async function storedAnswer(subject: Subject): Promise<Answer | undefined> {
  const { priceSource } = subject.settings;
  // The check of the price source reports this case.
  if (priceSource?.length === 0) return undefined;
  const price = await new PriceStore(await subject.stakes()).newest();
  if (price !== undefined) return agedAnswer(price, await subject.price(), subject);
  return priceSource === undefined
    ? notChecked('none is stored, and PRICE_SOURCE is not set')
    : warning('none is stored', storedRemedy(await subject.price()));
}

function agedAnswer(price: Price, seen: SeenPrice, { clock, settings }: Subject): Answer {
  const { priceSource } = settings;
  const { answered } = maxAgesSeconds(settings);
  const ageMs = clock.nowMs() - price.observedAt.getTime();
  const found = `${price.usd} USD by ${price.source}, ${duration(ageMs)} old`;
  if (ageMs > answered * 1000) {
    return warning(
      `${found}: older than ${duration(answered * 1000)}, so it is left out and nothing is redeemed`,
      storedRemedy(seen),
    );
  }
  if (priceSource === undefined) return ok(found);
  const wanted = nameOfSources(priceSource);
  const [only] = priceSource.length === 1 ? priceSource : [];
  const isOtherFigure = only?.kind === 'fixed' && only.usd !== price.usd;
  if (wanted !== price.source || isOtherFigure) {
    const given = only?.kind === 'fixed' ? `${wanted}:${only.usd}` : wanted;
    return warning(
      `${found}; PRICE_SOURCE is ${given}`,
      'The indexer runs with another PRICE_SOURCE: restart it with this one, or correct it here.',
    );
  }
  const behindMs =
    seen.kind === 'read' ? seen.reading.observedAt.getTime() - price.observedAt.getTime() : 0;
  return behindMs > BEHIND_MS
    ? warning(`${found}; the source has one ${duration(behindMs)} newer`, storedRemedy(seen))
    : ok(found);
}

function storedRemedy(seen: SeenPrice): string {
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

async function limitAnswers(subject: Subject): Promise<Answer[]> {
  const { priceSource = [], priceBoundsUsd } = subject.settings;
  const { hold } = await new PriceStore(await subject.stakes()).standing();
  const answers: Answer[] = [];
  if (hold !== undefined) {
    const before = hold.beforeUsd === undefined ? 'none before' : `${hold.beforeUsd} before`;
    answers.push(
      fault(
        `held: ${hold.price.usd} USD, ${before}: ${HELD_BECAUSE[hold.reason] ?? hold.reason}; nothing is redeemed`,
        'Look elsewhere what the token costs, then `price accept` with that figure, or mend the source.',
      ),
    );
  }
  if (priceSource.length === 0) return answers;
  if (priceBoundsUsd === undefined) {
    answers.push(
      warning(
        'PRICE_BOUNDS_USD is not set: a price that drifts slowly enough is followed without end',
        'Set it, for the indexer and for the redemption service.',
      ),
    );
  }
  return answers.length > 0 ? answers : [ok('bounds are set, and no price is held')];
}

/** The oldest prices that count, in answers and for redemptions. */
function maxAgesSeconds({ priceMaxAgeSeconds: given }: Subject['settings']): {
  readonly answered: number;
  readonly redeemed: number;
} {
  return {
    answered: given ?? ANSWERED_PRICE_MAX_AGE_SECONDS,
    redeemed: given ?? REDEEMED_PRICE_MAX_AGE_SECONDS,
  };
}
