/** The parts of the witnesses that decide without a chain. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
import { DisagreementLog } from './second-read.js';
import { firstDisagreement } from './wallet-balances.js';

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

const ANSWER = { from: 1402n, to: 1801n, endpoint: 'one.example#1' };

let nowMs: number;
let lines: Record<string, unknown>[];
let log: DisagreementLog;

beforeEach(() => {
  nowMs = 0;
  lines = [];
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  const logger = createLogger({ app: 'test', level: 'info', destination });
  log = new DisagreementLog({ nowMs: () => nowMs }, logger);
});

it('names both endpoints and what to do, once a minute', () => {
  for (let second = 0; second < 90; second++, nowMs += 1000) {
    log.differ({ ...ANSWER, other: 'two.example#1', differingBlocks: 10 });
  }
  const told = {
    level: 'warn',
    endpoints: ['one.example#1', 'two.example#1'],
    fromBlock: 1402,
    toBlock: 1801,
    differingBlocks: 10,
    msg: expect.stringMatching(/^one\.example#1 and two\.example#1 .* RPC_URLS$/),
  };
  expect(lines).toEqual([
    expect.objectContaining({ ...told, times: 1 }),
    expect.objectContaining({ ...told, times: 60 }),
  ]);
});

it('says it of one endpoint that contradicts itself', () => {
  log.differ({ ...ANSWER, other: ANSWER.endpoint, differingBlocks: 1 });
  expect(lines).toMatchObject([
    {
      endpoints: ['one.example#1'],
      msg: expect.stringMatching(/^one\.example#1 tells .* asked twice.* another provider/),
    },
  ]);
});

const doubts = (): SuspectRanges => {
  const all = new SuspectRanges();
  all.add({ from: 10n, to: 12n, avoid: ['one'], by: 'logs' });
  all.add({ from: 20n, to: 20n, avoid: [], by: 'receipts' });
  return all;
};

describe('SuspectRanges', () => {
  it.each([
    [1n, 9n, 9n],
    [1n, 10n, 9n],
    [1n, 100n, 9n],
    [10n, 100n, 12n],
    [11n, 11n, 11n],
    [13n, 100n, 19n],
    [20n, 100n, 20n],
    [21n, 100n, 100n],
  ])('cuts %s to %s at %s', (from, to, cut) => {
    expect(doubts().cut({ from, to })).toEqual({ from, to: cut });
  });

  it('knows which doubt covers a block', () => {
    expect(doubts().covering(11n)?.avoid).toEqual(['one']);
    expect(doubts().covering(20n)?.by).toBe('receipts');
    expect(doubts().covering(13n)).toBeUndefined();
  });

  it('forgets what has been verified since', () => {
    const all = doubts();
    all.forgetUpTo(15n);
    expect(all.covering(11n)).toBeUndefined();
    expect(all.covering(20n)).toBeDefined();
  });
});

describe('firstDisagreement', () => {
  it('finds the first block at which both sides differ', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5000), fc.integer({ min: 1, max: 5000 }), async (good, length) => {
        const bad = good + length;
        const wrong = good + 1 + ((good * 7919) % length);
        const found = await firstDisagreement(BigInt(good), BigInt(bad), (block) =>
          Promise.resolve(block < BigInt(wrong)),
        );
        expect(found).toBe(BigInt(wrong));
      }),
    );
  });

  it('gives up where a node no longer has the state', async () => {
    expect(await firstDisagreement(1n, 100n, () => Promise.resolve(undefined))).toBeUndefined();
  });
});
