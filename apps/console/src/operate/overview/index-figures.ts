import { Inject, Injectable } from '@nestjs/common';
import { IndexStore, type IndexState } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { HELD_BECAUSE, showPrice, type ShownPrice, tokensText } from '#libs/operations';
import { indexedContracts } from '#libs/verification';
import { StakeSets } from '../stake-sets.js';
import {
  type HeldPriceBody,
  type IndexBody,
  type PriceBody,
  type StakeSetBody,
} from './overview.dto.js';

/** The state of the index and the price of the token for each stake set, as stored in the database. */
@Injectable()
export class IndexFigures {
  constructor(
    private readonly sets: StakeSets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  all(): Promise<StakeSetBody[]> {
    const nowMs = this.clock.nowMs();
    return this.sets.forEach(async (database, stakeSet) => {
      const state = await new IndexStore(database).state();
      return { stakeSet, index: state === undefined ? null : indexBody(state, nowMs) };
    });
  }

  prices(): Promise<PriceBody[]> {
    return this.sets.forEach(async (database, stakeSet) =>
      priceBody(stakeSet, await showPrice(database)),
    );
  }
}

function indexBody(state: IndexState, nowMs: number): IndexBody {
  const { head, finalised, verifiedNumber, total, tokenDecimals, syncedAt, halted } = state;
  const headMs = head.timestampSeconds * 1000;
  return {
    chainId: state.chainId,
    contracts: [...indexedContracts(state).contracts],
    tokenSymbol: state.tokenSymbol,
    headBlock: head.number.toString(),
    headAt: new Date(headMs),
    lagSeconds: (nowMs - headMs) / 1000,
    finalisedBlock: finalised?.number.toString() ?? null,
    verifiedBlock: verifiedNumber?.toString() ?? null,
    total: tokensText({ tokenAmount: total, tokenDecimals }),
    syncedAt: syncedAt ?? null,
    halted: halted ?? null,
  };
}

function priceBody(stakeSet: string, { stored, hold, accepted }: ShownPrice): PriceBody {
  return {
    ...{ stakeSet, stored },
    hold: hold && holdBody(hold),
    accepted: accepted && { usd: accepted.usd, actor: accepted.actor, at: accepted.at },
  };
}

function holdBody(hold: NonNullable<ShownPrice['hold']>): HeldPriceBody {
  const { price, since, reason, beforeUsd = null, isAccepted } = hold;
  return { ...price, since, because: HELD_BECAUSE[reason] ?? reason, beforeUsd, isAccepted };
}
