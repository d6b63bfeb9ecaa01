import { expect, it } from '@jest/globals';
import { type ChainReader } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockHeader } from '#libs/domain';
import { createLogger } from '#libs/service';
import { aBlock } from '#libs/testing/database';
import { type IndexOptions } from '../settings/index-options.js';
import { ContractTotal } from './contract-total.js';
import { type RangeRepair } from './range-repair.js';
import { SuspectRanges } from './suspect-ranges.js';
import { type Witnesses } from './witnesses.js';

const STATE = { head: aBlock(20), verifiedNumber: 10n } as IndexState;
const SHOWN = { to: 20n, endpoint: 'one.example#1' };

/** A check whose question for the verified block is answered when the test says so. */
function setUp({ areNone = false } = {}) {
  let answer: (headers: BlockHeader[]) => void = () => undefined;
  const suspects = new SuspectRanges();
  const reader = {
    headers: () => new Promise<BlockHeader[]>((resolve) => (answer = resolve)),
  } as unknown as ChainReader;
  const check = new ContractTotal(
    reader,
    { areNone } as Witnesses,
    {} as RangeRepair,
    suspects,
    createLogger({ app: 'test', level: 'silent' }),
    { firstBlock: 1n } as IndexOptions,
  );
  const verified = aBlock(10) as BlockHeader;
  return {
    check,
    suspects,
    verified,
    answer: () => {
      answer([verified]);
    },
  };
}

it('marks the blocks after the newest verified one as suspect', async () => {
  const { check, suspects, verified, answer } = setUp();
  const found = check.suspectUnverified(STATE, SHOWN, new AbortController().signal);
  answer();
  expect(await found).toBe(verified);
  expect(suspects.countAt(11n)).toBe(1);
});

it('suspects nothing in the mode none, whose blocks are all unverified', async () => {
  const { check, suspects } = setUp({ areNone: true });
  const { signal } = new AbortController();
  expect(await check.suspectUnverified(STATE, SHOWN, signal)).toBeUndefined();
  expect(suspects.countAt(11n)).toBe(0);
});

it('counts nothing for the next lead where the lead has ended meanwhile', async () => {
  const { check, suspects, answer } = setUp();
  const lead = new AbortController();
  const found = check.suspectUnverified(STATE, SHOWN, lead.signal);
  lead.abort(new Error('the lead has ended'));
  answer();
  await expect(found).rejects.toThrow('the lead has ended');
  expect(suspects.countAt(11n)).toBe(0);
});
