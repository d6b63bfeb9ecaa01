import {
  decimalText,
  type Price,
  type PriceAcceptance,
  PriceAcceptanceStore,
  type PriceHold,
  PriceStore,
} from '#libs/db';
import { type Decimal, DEFAULT_STAKE_SET, parseDecimal, ratioToNumber } from '#libs/domain';
import { audited } from '../audited.js';
import { StakeSetSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { argument, AS, JSON_LINE, ON_STAKE_SET, positiveDecimal } from '../options.js';
import { type Field, fieldLines, fromNow, moment } from '../output/text.js';

/** Why a price is held, for operators; by the reasons of libs/price. */
export const HELD_BECAUSE: Readonly<Record<string, string>> = {
  first: 'it is the first price, and PRICE_MIN_USD and PRICE_MAX_USD are not both set',
  'below-minimum': 'it is below PRICE_MIN_USD',
  'above-maximum': 'it is above PRICE_MAX_USD',
  jump: 'it differs from the one before by more than PRICE_MAX_CHANGE',
  drift: 'it differs from one of the last hour by more than PRICE_MAX_CHANGE_PER_HOUR',
};

/** The price that was stored last, whether one is held and why, and what was accepted last. Reads the database only. */
const show = command({
  name: 'show',
  description: 'show the stored price, and whether one is held',
  options: [ON_STAKE_SET, JSON_LINE],
  settings: StakeSetSettings,
  async action(call) {
    const shown = await call.withStakeSet(async (database) => {
      const prices = new PriceStore(database);
      const { hold } = await prices.standing();
      const stored = await prices.newest();
      const accepted = await new PriceAcceptanceStore(database).newest();
      return { stored: stored ?? null, hold: hold ?? null, accepted: accepted ?? null };
    });
    call.print(shown, textOf(shown, call.clock.nowMs()));
  },
});

/** Lets a price be used that is held. It names the figure, so that no other one is accepted by it. */
const accept = command({
  name: 'accept',
  description: 'use a price that is held; one that is not near this figure stays held',
  arguments: [
    argument(
      '<usd>',
      'US dollars for one token, as you found them to be, and as `price show` has them',
      positiveDecimal,
    ),
  ],
  options: [ON_STAKE_SET, AS],
  settings: StakeSetSettings,
  async action(call, { usd: price }: { readonly usd: Decimal }) {
    const usd = decimalText(price);
    const { actor, ...given } = call.audited({ usd, ...namedSet(call.settings) });
    const note = { ...given, outcome: 'accepted' };
    const hold = await call.withStakeSet((database) =>
      audited(database, { actor, ...given }, {}, () =>
        new PriceAcceptanceStore(database).accept(usd, { actor, note }),
      ),
    );
    call.terminal.out(
      `Accepted ${usd} USD; ${hold.price.usd} was held. Redemptions go on with the next reading near it, within a minute.\n`,
    );
  },
});

/** In the audit, where it is not the only one. */
function namedSet({ stakeSet }: StakeSetSettings): { readonly stakeSet?: string } {
  return stakeSet === DEFAULT_STAKE_SET ? {} : { stakeSet };
}

export const priceCommands: CommandGroup = {
  name: 'price',
  description: 'the price of the token, and one that is held until you accept it',
  commands: [show, accept],
};

interface Shown {
  readonly stored: Price | null;
  readonly hold: PriceHold | null;
  readonly accepted: PriceAcceptance | null;
}

function textOf({ stored, hold, accepted }: Shown, nowMs: number): string {
  const ago = (at: Date): string => `${moment(at) ?? ''}, ${fromNow(at.getTime(), nowMs)}`;
  const fields: Field[] = [
    ['stored', stored === null ? 'none' : `${stored.usd} USD by ${stored.source}`],
    ['observed', stored === null ? undefined : ago(stored.observedAt)],
    ['held', hold === null ? 'no' : `since ${ago(hold.since)}`],
    ...(hold === null ? [] : holdFields(hold, ago)),
    [
      'accepted last',
      accepted === null
        ? 'never'
        : `${accepted.usd} USD by ${accepted.actor}, ${moment(accepted.at) ?? ''}`,
    ],
  ];
  return fieldLines(fields) + (hold === null ? '' : adviceOn(hold));
}

function holdFields({ reason, beforeUsd, price }: PriceHold, ago: (at: Date) => string): Field[] {
  const change = beforeUsd === undefined ? '' : ` (${percentOf(price.usd, beforeUsd)})`;
  return [
    ['because', HELD_BECAUSE[reason] ?? reason],
    ['before', beforeUsd === undefined ? 'none' : `${beforeUsd} USD`],
    ['now', `${price.usd} USD${change} by ${price.source}`],
    ['now observed', ago(price.observedAt)],
  ];
}

function adviceOn({ price, isAccepted }: PriceHold): string {
  return isAccepted
    ? 'A figure was accepted: the hold ends with the next reading near it, within a minute.\n'
    : `Redemptions are paused and snapshots have no price. Look elsewhere what the token costs. Where that is the figure of now: price accept ${price.usd}\n`;
}

/** How far a price is from another, for a person: `+12.5 %`, `-99.9 %`. @param base above 0 */
function percentOf(price: string, base: string): string {
  const [a, b] = [parseDecimal(price), parseDecimal(base)];
  const ratio = ratioToNumber(a.digits * 10n ** BigInt(b.scale), b.digits * 10n ** BigInt(a.scale));
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toPrecision(3)} %`;
}
