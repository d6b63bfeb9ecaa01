import { Inject, Injectable } from '@nestjs/common';
import { IndexStore, type IndexState, type WalletHistory, WalletHistoryStore } from '#libs/db';
import {
  type Address,
  dailyMinima,
  dayOf,
  DEFAULT_STAKE_SET,
  dayText,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { tokensText } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { StakeSets } from '../stake-sets.js';
import { type Range, type WalletDayBody, type WalletHistoryBody } from './wallets.dto.js';

/** Maximum numbers of days and changes: as many as a chart can show and an answer can hold. */
const MOST_DAYS = 1_100;
const MOST_CHANGES = 5_000;

interface HistoryRequest {
  readonly wallet: Address;
  readonly range: Range;
  readonly stakeSet?: string | undefined;
}

@Injectable()
export class WalletHistoryService {
  constructor(
    private readonly sets: StakeSets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 404 where the stake set does not exist or has no index yet */
  async read({
    wallet,
    range,
    stakeSet = DEFAULT_STAKE_SET,
  }: HistoryRequest): Promise<WalletHistoryBody> {
    const database = await this.sets.open(stakeSet);
    const state = await new IndexStore(database).state();
    if (state === undefined) {
      throw new HttpProblem(404, 'There is no index yet: the indexer makes it.', {
        code: 'NO_INDEX',
      });
    }
    const store = new WalletHistoryStore(database);
    const today = dayOf(this.clock.nowMs() / 1000);
    const begun = await store.firstDay(wallet);
    const firstDay = firstDayOf(range, begun, today);
    const history = await store.read(wallet, { firstDay, mostChanges: MOST_CHANGES });
    const tokens = tokensOf(state);
    return {
      ...{ wallet, stakeSet, tokenSymbol: state.tokenSymbol },
      hasStaked: begun !== undefined,
      balance: tokens(history.changes.at(-1)?.balance ?? 0n),
      indexedUntil: new Date(state.head.timestampSeconds * 1000),
      from: begun === undefined ? null : new Date(firstDay * SECONDS_PER_DAY * 1000),
      days: begun === undefined ? [] : daysOf(history, { firstDay, today, state }),
      changes: history.changes.map(({ block, seconds, balance }) => ({
        at: new Date(seconds * 1000),
        block: block.toString(),
        balance: tokens(balance),
      })),
      isCut: history.isCut,
    };
  }
}

function firstDayOf(range: Range, begun: number | undefined, today: number): number {
  const wanted = range === 'all' ? (begun ?? today) : today - Number(range) + 1;
  return Math.max(wanted, today - MOST_DAYS + 1);
}

interface Days {
  readonly firstDay: number;
  readonly today: number;
  readonly state: IndexState;
}

/** For each day up to today the low-water mark, as a snapshot has it, and the closing balance. */
function daysOf({ days }: WalletHistory, { firstDay, today, state }: Days): WalletDayBody[] {
  const tokens = tokensOf(state);
  const closings = new Map(days.map(({ day, closing }) => [day, closing]));
  const indexedDay = dayOf(state.head.timestampSeconds);
  let closing = days.find(({ day }) => day < firstDay)?.closing ?? 0n;
  return dailyMinima(days, { firstDay, endDay: today + 1 }).map(({ day, minimum }) => {
    closing = closings.get(day) ?? closing;
    return {
      day: dayText(day),
      low: tokens(minimum),
      closing: tokens(closing),
      isOpen: day >= Math.min(today, indexedDay),
    };
  });
}

function tokensOf({ tokenDecimals }: IndexState): (tokenAmount: bigint) => string {
  return (tokenAmount) => tokensText({ tokenAmount, tokenDecimals });
}
