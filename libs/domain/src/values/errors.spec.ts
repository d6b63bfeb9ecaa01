import { describe, expect, it } from '@jest/globals';
import { LowmarkError, PermanentError, RetryableError } from './errors.js';

describe('errors', () => {
  it('say whether trying again may help, and keep code, cause and name', () => {
    class NodeBehindError extends RetryableError {}
    const cause = new Error('inner');
    const error = new NodeBehindError('NODE_BEHIND', 'The node is behind.', { cause });
    expect(error).toBeInstanceOf(LowmarkError);
    expect(error).toMatchObject({ code: 'NODE_BEHIND', retryable: true, cause });
    expect(error.name).toBe('NodeBehindError');
    expect(new PermanentError('X', 'y')).toMatchObject({ retryable: false, message: 'y' });
  });

  it('keep their message bounded', () => {
    expect(new PermanentError('X', 'y'.repeat(5000)).message).toHaveLength(2000);
  });
});
