import { describe, expect, it } from '@jest/globals';
import { type CredentialId } from '#libs/domain';
import { type PartnerStore } from '#libs/db';
import { type Logger } from '#libs/platform';
import { FakeClock } from '#libs/testing/clock';
import { LastUse } from './last-use.js';

const [A, B] = ['a' as CredentialId, 'b' as CredentialId];

function setUp(write: (id: string) => Promise<void> = () => Promise.resolve()) {
  const clock = new FakeClock(1_000_000);
  const [written, logged]: [string[], unknown[]] = [[], []];
  const recorded = (id: string): Promise<void> => {
    written.push(id);
    return write(id);
  };
  const logger = { debug: (...line: unknown[]) => void logged.push(line) };
  const partners = { noteUse: recorded } as unknown as PartnerStore;
  const uses = new LastUse(partners, clock, logger as unknown as Logger);
  return { clock, written, logged, uses };
}

describe('LastUse', () => {
  it('writes once a minute for each credential', () => {
    const { clock, written, uses } = setUp();
    for (const id of [A, A, B, A]) uses.note(id);
    expect(written).toEqual(['a', 'b']);
    clock.advance(59_999);
    uses.note(A);
    expect(written).toEqual(['a', 'b']);
    clock.advance(1);
    uses.note(A);
    expect(written).toEqual(['a', 'b', 'a']);
  });

  it('writes again after the clock was set back', () => {
    const { clock, written, uses } = setUp();
    uses.note(A);
    clock.advance(-1);
    uses.note(A);
    expect(written).toEqual(['a', 'a']);
  });

  it('only logs what fails, and waits its minute all the same', async () => {
    const { written, logged, uses } = setUp(() => Promise.reject(new Error('down')));
    uses.note(A);
    await Promise.resolve().then(() => undefined);
    uses.note(A);
    expect(written).toEqual(['a']);
    expect(logged).toEqual([
      [{ credentialId: 'a', reason: 'down' }, 'The use of a credential was not noted'],
    ]);
  });
});
