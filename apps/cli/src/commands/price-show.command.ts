import { Command } from 'commander';
import { readSettings } from '#libs/config';
import {
  type Price,
  type PriceAcceptance,
  PriceAcceptanceStore,
  type PriceHold,
  PriceStore,
} from '#libs/db';
import { parseDecimal, ratioToNumber } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { type Field, fieldLines } from '../output/fields.js';
import { jsonLine } from '../output/json-line.js';
import { fromNow, moment } from '../output/moments.js';
import { HELD_BECAUSE } from '../price/hold-reasons.js';
import { withDatabase } from '../with-database.js';

/** `price show`: the price that was stored last, whether one is held and why, and what was accepted last. Reads the database only. */
export function priceShowCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('show')
    .description('show the stored price, and whether one is held')
    .option('--json', 'print one line of JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      const settings = readSettings(OperatorSettings, source());
      const seen = await withDatabase(settings.databaseUrl, async (database) => {
        const prices = new PriceStore(database);
        const { hold } = await prices.standing();
        const stored = await prices.newest();
        const accepted = await new PriceAcceptanceStore(database).newest();
        return { stored: stored ?? null, hold: hold ?? null, accepted: accepted ?? null };
      });
      terminal.out(json === true ? jsonLine(seen) : textOf(seen, clock));
    });
}

interface Seen {
  readonly stored: Price | null;
  readonly hold: PriceHold | null;
  readonly accepted: PriceAcceptance | null;
}

function textOf({ stored, hold, accepted }: Seen, clock: Clock): string {
  const ago = (at: Date): string => `${moment(at) ?? ''}, ${fromNow(at.getTime(), clock.nowMs())}`;
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
  return fieldLines(fields) + (hold === null ? '' : mendOf(hold));
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

function mendOf({ price, isAccepted }: PriceHold): string {
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
