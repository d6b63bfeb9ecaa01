/** Logs that are read while the answer is parsed, beside the same logs read as a list. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { EventDecoder, LogReader, logListOf, parseLogList, readRangeLogs } from './range-logs.js';
import { LogFilter } from './log-filter.js';

const CONTRACT = `0x${'c0'.repeat(20)}` as Address;
const EVENTS = parseStakeEvents('staked-withdrawn');
const CONTEXT = {
  endpoint: 'node',
  from: 10,
  to: 13,
  filter: new LogFilter([CONTRACT], EVENTS),
  decoder: new EventDecoder(EVENTS),
};
const hex = (value: number): string => `0x${value.toString(16)}`;
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`;

/** The logs of a good answer, two for each block. */
const GOOD = Array.from({ length: 8 }, (_, index) => ({
  address: String(CONTRACT),
  topics: [EVENTS[index % EVENTS.length]?.topic0 ?? '', word(0xa1 + (index % 3))],
  data: word(1000 + index),
  blockNumber: hex(10 + Math.floor(index / 2)),
  blockHash: word(0xb10c + Math.floor(index / 2)),
  blockTimestamp: hex(1_700_000_000 + 12 * Math.floor(index / 2)),
  transactionIndex: hex(index % 2),
  logIndex: hex(index),
  removed: false,
}));
type Log = (typeof GOOD)[number];

/** What a node in the field may do to a log. */
const CHANGES: readonly ((log: Log) => unknown)[] = [
  (log) => ({ ...log, removed: true, blockHash: word(0xdead) }),
  (log) => ({ ...log, removed: true }),
  (log) => ({ ...log, address: log.address.toUpperCase().replace('0X', '0x') }),
  (log) => ({ ...log, topics: log.topics.map((topic) => topic.toUpperCase().replace('0X', '0x')) }),
  (log) => ({ ...log, data: log.data.replaceAll('0', 'F').replace('Fx', '0x') }),
  (log) => ({ ...log, blockTimestamp: '0x0' }),
  (log) => ({ ...log, logIndex: '0x0' }),
  (log) => ({ ...log, blockHash: word(0xf0f0) }),
  (log) => ({ ...log, blockNumber: '0x99' }),
  (log) => ({ ...log, topics: [log.topics[0]] }),
  (log) => ({ ...log, topics: [word(7), log.topics[1]] }),
  (log) => ({ ...log, data: '0xzz' }),
  () => null,
  () => 'a log',
];

const anAnswer = fc
  .record({
    changes: fc.array(fc.tuple(fc.nat(GOOD.length - 1), fc.nat(CHANGES.length - 1)), {
      maxLength: 2,
    }),
    order: fc.oneof(
      fc.constant(GOOD.map((_, index) => index)),
      fc.shuffledSubarray(GOOD.map((_, index) => index)),
    ),
    doubled: fc.option(fc.nat(GOOD.length - 1)),
  })
  .map(({ changes, order, doubled }) => {
    const logs: unknown[] = [...GOOD];
    for (const [at, change] of changes) logs[at] = CHANGES[change]?.(GOOD[at] as Log);
    const ordered = order.map((index) => logs[index]);
    return doubled === null ? ordered : [...ordered, ordered[doubled]].filter(Boolean);
  });

function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

describe('LogReader', () => {
  it('reads what the list has, or refuses it', () => {
    let whole = 0;
    let refused = 0;
    fc.assert(
      fc.property(anAnswer, (logs) => {
        const reader = new LogReader(CONTEXT);
        const isRead = logs.every((log) => reader.read(log));
        if (isRead) whole++;
        else refused++;
        const asList = (): unknown =>
          readRangeLogs(parseLogList(logs, CONTEXT), new Map(), CONTEXT);
        if (!isRead) return;
        const list = logListOf(reader, CONTEXT);
        const { removed, isNull } = parseLogList(logs, CONTEXT);
        expect(list).toMatchObject({ removed, isNull });
        expect(outcomeOf(() => readRangeLogs(list, new Map(), CONTEXT))).toEqual(outcomeOf(asList));
      }),
      { numRuns: 500 },
    );
    expect(Math.min(whole, refused)).toBeGreaterThan(50);
  });

  it('refuses nothing of an answer whose logs are right and in order', () => {
    const reader = new LogReader(CONTEXT);
    expect(GOOD.every((log) => reader.read(log))).toBe(true);
    expect(readRangeLogs(logListOf(reader, CONTEXT), new Map(), CONTEXT)).toHaveLength(4);
  });
});

describe('readRangeLogs', () => {
  const header = (number: number, seconds: number, blockHash = word(0xb10c + number - 10)) =>
    ({ number: BigInt(number), hash: blockHash, timestampSeconds: seconds }) as never;
  const read = (headers: ReadonlyMap<number, never>) => {
    const reader = new LogReader(CONTEXT);
    for (const log of GOOD) reader.read(log);
    return readRangeLogs(logListOf(reader, CONTEXT), headers, CONTEXT);
  };

  it('takes the time of the header before that of the log, and none that is later than the last block', () => {
    const headers = new Map([
      [10, header(10, 5)],
      [13, header(13, 1_700_000_015)],
    ]);
    expect(read(headers).map(({ timestampSeconds }) => timestampSeconds)).toEqual([
      5,
      1_700_000_012,
      undefined,
      1_700_000_015,
    ]);
  });

  it('refuses logs of another fork than the headers', () => {
    expect(() => read(new Map([[11, header(11, 5, word(0xbad))]]))).toThrow(
      'the logs of block 11 are from another fork than its header',
    );
  });
});
