/** The results of the providers benchmark as a table. */
import { count, fixed } from '../support/figures.js';
import { type Table } from '../support/report.js';
import { type Bill } from './provider-process.js';
import { type IndexerRun, type TimedRun } from './runs.js';

export interface Round {
  readonly name: string;
  readonly chain: string;
  readonly floor: TimedRun;
  readonly floorBill: Bill;
  readonly indexer: IndexerRun;
  readonly bill: Bill;
  /** `right`, or the errors found. */
  readonly verdict: string;
}

export function tableOf(rounds: readonly Round[]): Table {
  return {
    head: [
      ...[
        'profile, chain',
        'floor s',
        'indexer s',
        'x',
        'x from first request',
        'floor calls',
        'calls',
        'x',
      ],
      ...['getLogs', 'headers', 'eth_call', 'receipts', 'refused', 'requests', 'in flight'],
      ...['floor CU', 'CU', 'x', 'CPU s', 'peak MiB', 'result'],
    ],
    rows: rounds.map(row),
  };
}

const SHORT_HEAD = ['profile, chain', 'floor s', 'time, x', 'calls, x', 'peak MiB'];
const SHORT_COLUMNS = [0, 1, 3, 7, 19];

/** The columns of the table that docs/performance.md has. */
export function shortTableOf(rounds: readonly Round[]): Table {
  const rows = tableOf(rounds).rows.map((cells) => SHORT_COLUMNS.map((at) => cells[at] ?? ''));
  return { head: SHORT_HEAD, rows };
}

/** A row of the table. Ratios are shown for finished runs only. */
function row(round: Round): string[] {
  const { name, chain, floor, floorBill, indexer, bill, verdict } = round;
  const isWhole = indexer.outcome === 'synced';
  const ratio = (value: number, least: number): string => (isWhole ? fixed(value / least) : '-');
  const beside = (value: number, least: number): string => `${count(value)} (${count(least)})`;
  return [
    `${name}, ${chain}`,
    fixed(floor.seconds, 1),
    isWhole ? fixed(indexer.seconds, 1) : '-',
    ratio(indexer.seconds, floor.seconds),
    ratio(afterStart(indexer, bill), afterStart(floor, floorBill)),
    count(floorBill.calls),
    count(bill.calls),
    ratio(bill.calls, floorBill.calls),
    beside(bill.logs, floorBill.logs),
    beside(bill.headers, floorBill.headers),
    beside(bill.views, floorBill.views),
    count(bill.receipts),
    count(bill.refused + bill.failed),
    beside(bill.requests, floorBill.requests),
    count(bill.mostInFlight),
    count(floorBill.computeUnits),
    count(bill.computeUnits),
    ratio(bill.computeUnits, floorBill.computeUnits),
    fixed(indexer.cpuSeconds, 1),
    count(indexer.peakMebibytes),
    verdict,
  ];
}

/** Seconds from the first request on. The start of the process is left out, since it is a large part of a short run. */
function afterStart({ startedAtMs, seconds }: TimedRun, { firstRequestAtMs }: Bill): number {
  const begunAtMs = firstRequestAtMs - performance.timeOrigin;
  return seconds - (begunAtMs - startedAtMs) / 1000;
}
