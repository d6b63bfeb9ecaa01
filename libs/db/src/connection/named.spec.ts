import { describe, expect, it } from '@jest/globals';
import { named } from './named.js';

describe('named', () => {
  it('numbers parameters in the order in which they come, each once', () => {
    const find = named<{ wallet: string; day: number }>(
      'find',
      "SELECT to_char(at, 'HH24:MI'), :day::int FROM t WHERE wallet = :wallet AND day <= :day",
    );
    expect(find({ wallet: '0xa', day: 3 })).toEqual({
      name: 'find',
      text: "SELECT to_char(at, 'HH24:MI'), $1::int FROM t WHERE wallet = $2 AND day <= $1",
      values: [3, '0xa'],
    });
  });

  it('takes null, and refuses a value that is missing', () => {
    const note = named<{ note: string | null | undefined }>('note', 'SELECT :note');
    expect(note({ note: null }).values).toEqual([null]);
    expect(() => note({ note: undefined })).toThrow('note: note is missing');
  });
});
