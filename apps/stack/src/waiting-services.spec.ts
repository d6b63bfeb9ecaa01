import { beforeEach, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { Screen, WaitingServices } from './context.js';

const SILENT = 'it does not answer yet';
let clock: FakeClock;
let lines: string[];
let waiting: WaitingServices;
beforeEach(() => {
  clock = new FakeClock(0);
  lines = [];
  waiting = new WaitingServices(new Screen(clock, (line) => void lines.push(line)));
});

it('says on one line which services are waited for, at most every ten seconds', () => {
  for (let tenths = 0; tenths <= 250; tenths++) {
    waiting.notReady('api', SILENT);
    waiting.notReady('console', SILENT);
    waiting.notReady('indexer', 'The sync goes on.');
    clock.advance(100);
  }
  const text = `not ready yet: api, console (${SILENT}); indexer (The sync goes on.)`;
  expect(lines).toEqual([`  10.0 s  services    ${text}`, `  20.0 s  services    ${text}`]);
});

it('does not name those that are ready since', () => {
  waiting.notReady('api', SILENT);
  waiting.notReady('console', SILENT);
  waiting.ready('api');
  clock.advance(10_000);
  waiting.notReady('console', SILENT);
  expect(lines).toEqual([`  10.0 s  services    not ready yet: console (${SILENT})`]);
});
