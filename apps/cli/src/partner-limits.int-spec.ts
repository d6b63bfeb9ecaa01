import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore } from '#libs/db';
import { CliBench } from './testing/cli-bench.support-spec.js';

let bench: CliBench;
beforeAll(async () => {
  bench = await CliBench.start();
});
afterAll(() => bench.drop());

describe('the limits of a partner at the api', () => {
  it('changes what is given, with a callback or alone', async () => {
    await bench.partner('Busy', 'https://game.example/svc');
    const limits = async (...argv: string[]): Promise<string> => {
      const { code, out } = await bench.run('partner', 'set', 'busy', ...argv);
      expect(code).toBe(0);
      return /requests +(.*)/.exec(out)?.[1] ?? '';
    };
    expect(await limits('--rate', '50')).toBe('50 a second, 100 at once');
    expect(await limits('--burst', '7')).toBe('50 a second, 7 at once');
    expect((await bench.audit())[0]).toMatchObject({
      command: 'partner set',
      arguments: { partner: 'busy', burst: 7 },
      outcome: 'done',
    });
    expect(await limits('--rate', '9', '--min-points', '3')).toBe('9 a second, 7 at once');
    const callback = await new CallbackStore(bench.database).findByName('busy');
    expect(callback?.minPoints).toBe(3n);
    // All or nothing.
    const refused = ['--rate', '1', '--min-points', '5', '--max-points', '4'];
    expect((await bench.run('partner', 'set', 'busy', ...refused)).code).toBe(1);
    expect((await bench.run('partner', 'set', 'busy', '--rate', '0')).code).toBe(1);
    expect((await bench.run('partner', 'list')).out).toContain('9 a second, 7 at once');
  });
});
