import { describe, expect, it } from '@jest/globals';
import { PermanentError, RetryableError } from '#libs/domain';
import { Failures } from './failures.js';

class Finding extends PermanentError {}

const timeOut = new RetryableError('TIMEOUT', 'no answer');
const mismatch = new Finding('TOTAL_MISMATCH', 'another total');
const negative = new Finding('NEGATIVE_BALANCE', 'below zero');
const setting = new Finding('SETTINGS_CHANGED', 'other settings');

function after(...errors: readonly Error[]): Failures {
  const failures = new Failures();
  for (const error of errors) failures.add(error);
  return failures;
}

describe('Failures', () => {
  it.each<[string, readonly Error[], PermanentError, boolean]>([
    ['a finding once', [mismatch], mismatch, false],
    ['a finding after two time-outs', [timeOut, timeOut, mismatch], mismatch, false],
    ['findings of several kinds', [negative, negative, mismatch], mismatch, false],
    ['a finding three times', [mismatch, timeOut, mismatch, negative, mismatch], mismatch, true],
    ['an error that no node can have caused', [setting], setting, true],
  ])('%s', (_case, errors, last, isConfirmed) => {
    const failures = after(...errors);
    expect(failures.isConfirmed(last)).toBe(isConfirmed);
    expect(failures.inARow).toBe(errors.length);
  });

  it('begins again after a success', () => {
    const failures = after(mismatch, mismatch);
    failures.clear();
    failures.add(mismatch);
    expect([failures.inARow, failures.isConfirmed(mismatch)]).toEqual([1, false]);
  });
});
