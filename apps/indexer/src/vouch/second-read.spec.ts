import { beforeEach, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { DisagreementLog } from './second-read.js';

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
