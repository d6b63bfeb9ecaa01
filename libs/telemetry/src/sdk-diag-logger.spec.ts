import { describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { SdkDiagLogger } from './sdk-diag-logger.js';

function notesInto(lines: string[]): { notes: SdkDiagLogger; clock: FakeClock } {
  const clock = new FakeClock(1_700_000_000_000);
  const logger = createLogger({ app: 'test', destination: { write: (line) => lines.push(line) } });
  return { notes: new SdkDiagLogger(logger, clock), clock };
}

const told = (lines: string[]) =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ reason, leftOut }) => ({ reason, leftOut }));

describe('what the SDK says', () => {
  it('is one warning in ten minutes, with how many were left out', () => {
    const lines: string[] = [];
    const { notes, clock } = notesInto(lines);
    for (let at = 0; at < 100; at++) notes.error('no connection');
    clock.advance(599_999);
    notes.warn('no connection');
    expect(told(lines)).toEqual([{ reason: 'no connection', leftOut: undefined }]);
    clock.advance(1);
    notes.warn('still none');
    expect(told(lines)[1]).toEqual({ reason: 'still none', leftOut: 100 });
    expect(lines[0]).toContain('"level":"warn"');
  });

  it('is nothing below a warning', () => {
    const lines: string[] = [];
    const { notes } = notesInto(lines);
    notes.info();
    notes.debug();
    notes.verbose();
    expect(lines).toEqual([]);
  });

  it.each([
    [
      JSON.stringify({ name: 'Error', code: 'ECONNREFUSED', message: 'connect 1', stack: 'at x' }),
      'ECONNREFUSED connect 1',
    ],
    [
      JSON.stringify({ code: '401', message: 'Unauthorized', data: 'your key k-1 is wrong' }),
      '401 Unauthorized',
    ],
    ['{"message": half', 'an error that cannot be read'],
    [
      "Could not parse user-provided export URL: 'key-in-it'",
      'Could not parse user-provided export URL: <…>',
    ],
    ['cannot reach https://u:p@host/key?k=1 now', 'cannot reach <url> now'],
    ['x'.repeat(1000), 'x'.repeat(200)],
  ])('%j is told as %s', (text, reason) => {
    const lines: string[] = [];
    notesInto(lines).notes.error(text);
    expect(told(lines)).toEqual([{ reason, leftOut: undefined }]);
  });
});
