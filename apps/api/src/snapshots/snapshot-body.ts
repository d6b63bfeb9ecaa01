import { PermanentError, SECONDS_PER_DAY } from '#libs/domain';
import { type Snapshot } from './snapshot.js';

const MS_PER_DAY = SECONDS_PER_DAY * 1000;

/**
 * The body of a 200, canonical as written: the keys stand here in the order in which RFC 8785 sorts them. Every answer is
 * signed, so the text is made once and not parsed and sorted again; a test holds it against `canonicalJson`.
 * @throws PermanentError NUMBER_TOO_LARGE where an amount is beyond what JSON numbers can say
 */
export function snapshotBody(snapshot: Snapshot): string {
  const { usd } = snapshot;
  const days = snapshot.days.map(({ day, amount }) => {
    const date = isoTime(day * MS_PER_DAY).slice(0, 'YYYY-MM-DD'.length);
    return `{"from":"${date}T00:00:00.000Z","snapshotAmount":${numberOf(amount)},"to":"${date}T23:59:59.999Z"}`;
  });
  return (
    `{"averageStakedAmount":${numberOf(snapshot.average)}` +
    (usd === undefined ? '' : `,"exchangeRateToUSD":${numberOf(usd.rate)}`) +
    `,"requestedAt":"${isoTime(snapshot.requestedAtMs)}"` +
    `,"stakeContract":"${snapshot.stakeContract}"` +
    `,"stakingSnapshots":[${days.join(',')}]` +
    `,"tokenContract":"${snapshot.tokenContract}"` +
    `,"tokenSymbol":${JSON.stringify(snapshot.tokenSymbol)}` +
    (usd === undefined ? '' : `,"valueInUSD":${numberOf(usd.value)}`) +
    `,"walletAddress":"${snapshot.wallet}"}`
  );
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function numberOf(value: number): string {
  if (!Number.isFinite(value)) {
    throw new PermanentError('NUMBER_TOO_LARGE', 'An amount is beyond what JSON numbers can say.');
  }
  return String(value);
}
