import { Inject, Injectable } from '@nestjs/common';
import { Database, IndexStore, type SealedDay, SealedDayStore, SealedListStore } from '#libs/db';
import {
  type AccountId,
  accountIdText,
  type Address,
  dayOf,
  dayText,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type Caller } from '../auth/credential-cache.js';
import { knownWrong } from '../snapshots/snapshot-answer.js';
import { StakeSets } from '../snapshots/stake-sets.js';
import {
  type DayProofAnswer,
  type DaysQuery,
  type SealedDayAnswer,
  type SealedDayOfSetAnswer,
  type SealedDaysAnswer,
} from './days.dto.js';
import { OlderProofs } from './older-proofs.service.js';

/** `Retry-After`: the indexer seals a day soon after its end is final. */
const RETRY_SOON_SECONDS = 60;

interface SetDays {
  readonly name: string;
  readonly days: SealedDayStore;
  readonly lists: SealedListStore;
  readonly of: Omit<SealedDayOfSetAnswer, 'day'>;
}

/** A sealed day whose list is stored. */
export interface DayListSource {
  readonly sealed: SealedDay;
  readonly lists: SealedListStore;
  readonly answer: SealedDayOfSetAnswer;
}

/**
 * Answers about sealed days. A sealed revision never changes, so these answers need not check the version of the index.
 * They are refused while a figure of the index is known to be wrong, as a root covers all wallets.
 */
@Injectable()
export class SealedDays {
  constructor(
    private readonly stakeSets: StakeSets,
    private readonly database: Database,
    private readonly olderProofs: OlderProofs,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 404 (the contract is not indexed), 503 (nothing is indexed yet, or another contract) */
  async page(caller: Caller, { contract, ...page }: DaysQuery): Promise<SealedDaysAnswer> {
    const { days, of } = await this.of(caller, contract);
    const { before, limit } = page;
    const found = await days.page({ ...(before !== undefined && { before }), limit: limit + 1 });
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : undefined;
    await requireSettled(days, shown);
    return {
      ...of,
      ...(before !== undefined && { before: dayText(before) }),
      days: shown.map(dayAnswer),
      ...(last && { next: dayText(last.day) }),
    };
  }

  /** @throws HttpProblem 404 (before the first day), 409 (not sealed yet), and those of `page` */
  async day(
    caller: Caller,
    day: number,
    contract: AccountId | undefined,
  ): Promise<SealedDayOfSetAnswer> {
    const set = await this.of(caller, contract);
    return { ...set.of, day: dayAnswer(await this.require(set, day)) };
  }

  /** @throws HttpProblem as `day`; where the day's list is no longer stored, also as `OlderProofs.prove` */
  async proof(
    caller: Caller,
    { day, wallet }: { readonly day: number; readonly wallet: Address },
    contract: AccountId | undefined,
  ): Promise<DayProofAnswer> {
    const set = await this.of(caller, contract);
    const sealed = await this.require(set, day);
    const { leaf, proof } =
      (await set.lists.prove(sealed, wallet)) ??
      (await this.olderProofs.prove({ stakeSet: set.name, ...sealed }, wallet, caller.partnerId));
    const low = leaf.wallet === wallet ? leaf.low : 0n;
    return {
      ...set.of,
      day: dayAnswer(sealed),
      walletAddress: wallet,
      low: String(low),
      leaf: { wallet: leaf.wallet, low: String(leaf.low), next: leaf.next },
      proof,
    };
  }

  /**
   * The sealed day from which a list is sent.
   * @throws HttpProblem as `day`, 404 (no such revision), 410 (the list of this day or revision is no longer stored)
   */
  async list(
    caller: Caller,
    { day, revision }: { readonly day: number; readonly revision: number | undefined },
    contract: AccountId | undefined,
  ): Promise<DayListSource> {
    const set = await this.of(caller, contract);
    const sealed = await this.require(set, day, revision);
    // A list without wallets needs no stored leaves.
    if (sealed.wallets > 0 && !(await set.lists.has(sealed))) {
      const message = `The list of ${dayText(day)}, revision ${sealed.revision}, is no longer kept; its root is.`;
      throw new HttpProblem(410, message, { code: 'LIST_NOT_KEPT' });
    }
    return { sealed, lists: set.lists, answer: { ...set.of, day: dayAnswer(sealed) } };
  }

  /** @param revision absent: the newest */
  private async require({ days }: SetDays, day: number, revision?: number): Promise<SealedDay> {
    const sealed = await days.byDay(day);
    if (sealed !== undefined) {
      await requireSettled(days, [sealed]);
      if (revision === undefined || revision === sealed.revision) return sealed;
      const found = (await days.revisions(day)).find((one) => one.revision === revision);
      if (found !== undefined) return found;
      const message = `${dayText(day)} has no revision ${revision}: the newest is ${sealed.revision}.`;
      throw new HttpProblem(404, message, { code: 'REVISION_NOT_FOUND' });
    }
    const newest = await days.newest();
    if (newest !== undefined && day < newest.day) {
      throw new HttpProblem(404, `${dayText(day)} is before the first day of the contract.`, {
        code: 'DAY_NOT_FOUND',
      });
    }
    throw this.notSealedYet(day);
  }

  private notSealedYet(day: number): HttpProblem {
    const nowSeconds = this.clock.nowMs() / 1000;
    const name = dayText(day);
    const isOver = day < dayOf(nowSeconds);
    const message = isOver
      ? `${name} is over and not sealed yet: a block after its end has to be final and verified first.`
      : `${name} is not over: it can be sealed after ${name}T23:59:59.999Z, when a later block is final.`;
    const retryAfterSeconds = isOver
      ? RETRY_SOON_SECONDS
      : Math.ceil((day + 1) * SECONDS_PER_DAY - nowSeconds);
    const code = isOver ? 'DAY_NOT_SEALED' : 'DAY_NOT_OVER';
    return new HttpProblem(409, message, { code, retryAfterSeconds });
  }

  private async of({ stakeSet }: Caller, contract: AccountId | undefined): Promise<SetDays> {
    const requestedAt = new Date(this.clock.nowMs()).toISOString();
    const { name, holds } = await this.stakeSets.setFor(contract, stakeSet);
    const database = this.database.inSet(name);
    const state = await new IndexStore(database).state();
    if (state === undefined || !holds(state)) {
      throw new HttpProblem(503, 'Nothing is indexed yet: try again later.', {
        retryAfterSeconds: RETRY_SOON_SECONDS,
      });
    }
    const { stakeContract, chainId, tokenDecimals } = state;
    const asked = contract && { contract: accountIdText(contract) };
    const of = { requestedAt, stakeContract, chainId, tokenDecimals, ...asked };
    return { name, days: new SealedDayStore(database), lists: new SealedListStore(database), of };
  }
}

/** @throws HttpProblem 503 while a wallet or a sum is known to be wrong, or one of the days is being worked out again */
async function requireSettled(store: SealedDayStore, sealed: readonly SealedDay[]): Promise<void> {
  const wrong = await store.firstDoubtful(sealed.map(({ day }) => day));
  if (wrong !== undefined) throw knownWrong(`A leaf of ${dayText(wrong)}`);
}

function dayAnswer(sealed: SealedDay): SealedDayAnswer {
  const { day, revision, root, previousRoot, wallets, total, software } = sealed;
  return {
    day: dayText(day),
    ...{ revision, root, wallets, software },
    ...(previousRoot !== undefined && { previousRoot }),
    total: String(total),
    blockNumber: Number(sealed.blockNumber),
    blockHash: sealed.blockHash,
    sealedAt: sealed.sealedAt.toISOString(),
  };
}
