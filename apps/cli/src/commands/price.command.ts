import { type PriceHold } from '#libs/db';
import { parseDecimal, ratioToNumber } from '#libs/domain';
import {
  AcceptPrice,
  fromNow,
  HELD_BECAUSE,
  moment,
  type ShownPrice,
  showPrice,
} from '#libs/operations';
import { StakeSetSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { JSON_LINE, ON_STAKE_SET } from '../options.js';
import { type Field, fieldLines } from '../output/text.js';

const show = command({
  name: 'show',
  description: 'show the stored price, and whether one is held',
  options: [ON_STAKE_SET, JSON_LINE],
  settings: StakeSetSettings,
  async action(call) {
    const shown = await call.withDatabase(showPrice);
    call.print(shown, textOf(shown, call.clock.nowMs()));
  },
});

export const priceCommands: CommandGroup = {
  name: 'price',
  description: 'the price of the token, and one that is held until you accept it',
  commands: [show, commandOf(AcceptPrice)],
};

function textOf({ stored, hold, accepted }: ShownPrice, nowMs: number): string {
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

/** Difference between two prices, as text: `+12.5 %`, `-99.9 %`. @param base above 0 */
function percentOf(price: string, base: string): string {
  const [a, b] = [parseDecimal(price), parseDecimal(base)];
  const ratio = ratioToNumber(a.digits * 10n ** BigInt(b.scale), b.digits * 10n ** BigInt(a.scale));
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toPrecision(3)} %`;
}
