import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore } from '#libs/db';
import { CliBench } from './testing/cli-bench.support.js';

let bench: CliBench;
beforeAll(async () => {
  bench = await CliBench.start();
});
afterAll(() => bench.drop());

describe('the limits of a partner at the api', () => {
  it('changes what is given, with a callback or alone', async () => {
    const partner = await bench.partner('Busy', 'https://game.example/svc');
    const limits = async (...argv: string[]): Promise<string> => {
      const { code, out } = await bench.run('partner', 'set', 'busy', ...argv);
      expect(code).toBe(0);
      return /requests +(.*)/.exec(out)?.[1] ?? '';
    };
    expect(await limits('--rate', '50')).toBe('50 a second, 100 at once');
    expect(await limits('--burst', '7')).toBe('50 a second, 7 at once');
    expect((await bench.audit())[0]).toMatchObject({
      command: 'partner set',
      partner,
      arguments: { partner, burst: 7 },
      outcome: 'done',
    });
    expect(await limits('--rate', '9', '--min-points', '3')).toBe('9 a second, 7 at once');
    const callbacks = await new CallbackStore(bench.database).list();
    expect(callbacks.map(({ minPoints }) => minPoints)).toEqual([3n]);
    // A change with one invalid value changes nothing.
    const refused = ['--rate', '1', '--min-points', '5', '--max-points', '4'];
    expect((await bench.run('partner', 'set', 'busy', ...refused)).code).toBe(1);
    expect((await bench.run('partner', 'set', 'busy', '--rate', '0')).code).toBe(1);
    expect((await bench.run('partner', 'list')).out).toContain('9 a second, 7 at once');
  });

  it('sets the limits and the callback in one transaction, with one audit row of all of it', async () => {
    const partner = await bench.partner(
      'Whole',
      'https://game.example/svc',
      '--rate',
      '5',
      '--burst',
      '6',
    );
    const before = await stored('Whole');
    const set = ['partner', 'set', 'Whole', '--rate', '9', '--usd-per-point', '77'];
    const { pool } = bench.database;
    await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no limits today'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON partners.partner EXECUTE FUNCTION refuse()`);
    const refused = await bench.run(...set);
    await pool.query('DROP FUNCTION refuse CASCADE');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('DATABASE_REFUSED') });
    expect(await stored('Whole')).toEqual(before);
    expect((await bench.run(...set)).out).toMatch(/77 USD[^]*9 a second, 6 at once/);
    const both = {
      command: 'partner set',
      arguments: { partner, rate: 9, usdPerPoint: '77' },
    };
    expect((await bench.audit()).slice(0, 3)).toMatchObject([
      { ...both, outcome: 'done' },
      { ...both, outcome: 'refused: DATABASE_REFUSED' },
      { command: 'partner create' },
    ]);
  });
});

async function stored(name: string): Promise<object> {
  const { pool } = bench.database;
  const { rows } = await pool.query<object>(
    `SELECT rate, burst, usd_per_point, c.updated_at FROM partners.partner p JOIN partners.callback c ON c.partner_id = p.id
      WHERE name = $1`,
    [name],
  );
  return { ...rows[0] };
}

describe('a partner', () => {
  it('without a daily token budget is said not to be live', async () => {
    const note = /^Nothing can be redeemed with this partner before it has a daily token budget/m;
    await bench.partner('Bare budget', 'https://game.example');
    const set = ['partner', 'set', 'Bare budget'];
    const ran = await bench.run(...set, '--max-points', '9');
    expect(ran.err).toMatch(note);
    expect(ran.out).toMatch(/daily budget +NOT SET: nothing can be redeemed/);
    const listed = async () =>
      (await bench.run('partner', 'list')).out.split('Bare budget')[1] ?? '';
    expect(await listed()).toMatch(/redemptions +REFUSED: no daily token budget/);
    expect((await bench.run(...set, '--daily-token-budget', '5')).err).not.toMatch(note);
    expect(await listed()).toMatch(/redemptions +open/);
  });
});
