/**
 * Finds out why the events and the contract's own figures differ, and how to read on.
 *
 * States of a block's events: believed -> doubted (read again from receipts or another endpoint) -> believed, or given up with an
 * error that stops the indexer. Nothing is ever written while a difference stands.
 */
import { type ChainReader, type RangeAnswer } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type Doubts } from './doubts.js';
import { firstDisagreement, totalAt, TotalMismatchError } from './total-mismatch.js';

/** Where to go on: from the index as it stands, or from an earlier block. */
export type Resolution =
  { readonly kind: 'read-again' } | { readonly kind: 'roll-back'; readonly to: BlockRef };

export interface Disagreement {
  readonly state: IndexState;
  readonly answer: RangeAnswer;
  readonly contractTotal: bigint;
}

export interface ReconcilerParts {
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'headers'>;
  readonly doubts: Doubts;
  readonly logger: Logger;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
}

export class Reconciler {
  constructor(private readonly parts: ReconcilerParts) {}

  /** @throws TotalMismatchError where the other ways of reading gave the same */
  async resolve(disagreement: Disagreement): Promise<Resolution> {
    const { state } = disagreement;
    if (state.verifiedNumber !== state.head.number) {
      const total = await this.parts.reader.stakeTotal(state.head);
      if (total !== state.total) return this.doubtUnverified(disagreement);
    }
    return this.doubtRange(disagreement);
  }

  /** The index was at odds with the contract before this range: go back to the last block at which both agreed. */
  private async doubtUnverified({
    state,
    answer,
    contractTotal,
  }: Disagreement): Promise<Resolution> {
    const verified = state.verifiedNumber ?? this.parts.firstBlock - 1n;
    const tried = this.parts.doubts.at(verified + 1n);
    if (tried) throw mismatch(answer.to, state, answer, contractTotal);
    const [to] = await this.parts.reader.headers([verified]);
    if (!to) throw mismatch(answer.to, state, answer, contractTotal);
    this.parts.doubts.add({
      from: verified + 1n,
      to: answer.to,
      avoid: [answer.endpoint],
      by: 'logs',
    });
    this.parts.logger.warn(
      { fromBlock: verified + 1n, toBlock: answer.to, contractTotal, avoid: answer.endpoint },
      'The events up to here do not add up to the contract’s total and no node has the state to find the block: reading them again',
    );
    return { kind: 'roll-back', to };
  }

  private async doubtRange({ state, answer, contractTotal }: Disagreement): Promise<Resolution> {
    const block = await firstDisagreement(state.head.number, answer.to, (number) =>
      this.agreesAt(number, state, answer),
    );
    const range =
      block === undefined ? { from: answer.from, to: answer.to } : { from: block, to: block };
    const by = block === undefined ? 'logs' : 'receipts';
    if (this.parts.doubts.at(range.from)?.by === by)
      throw mismatch(range.to, state, answer, contractTotal);
    this.parts.doubts.add({ ...range, avoid: [answer.endpoint], by });
    this.parts.logger.warn(
      { fromBlock: range.from, toBlock: range.to, endpoint: answer.endpoint, contractTotal },
      'An endpoint left out or altered events: reading these blocks again in another way',
    );
    return { kind: 'read-again' };
  }

  private async agreesAt(
    number: bigint,
    state: IndexState,
    answer: RangeAnswer,
  ): Promise<boolean | undefined> {
    const block = answer.headers[Number(number - answer.from)];
    const total = block && (await this.parts.reader.stakeTotal(block));
    return total === undefined ? undefined : total === totalAt(state.total, answer.blocks, number);
  }
}

function mismatch(
  block: bigint,
  state: IndexState,
  answer: RangeAnswer,
  contract: bigint,
): TotalMismatchError {
  return new TotalMismatchError({
    block,
    indexed: totalAt(state.total, answer.blocks, answer.to),
    contract,
    endpoint: answer.endpoint,
  });
}
