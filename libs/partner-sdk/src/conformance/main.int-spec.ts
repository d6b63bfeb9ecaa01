/** Tests the program as started, with real signals. It runs from dist/, as in the tests of other programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  API_KEY,
  type Call,
  HonestPartner,
  type Json,
  PLAYER,
  SECRET,
} from './fixtures/honest-partner.support.js';

const MAIN = resolve('dist/libs/partner-sdk/src/conformance/main.js');
/** The progress lines of a run that takes long, as on a busy machine. */
const PROGRESS = /^\d+ of \d+ checks, \d+ calls; now: .+\n/gm;

let child: ChildProcess | undefined;
const partners: HonestPartner[] = [];
afterEach(async () => {
  child?.kill('SIGKILL');
  await Promise.all(partners.splice(0).map((partner) => partner.stop()));
});

async function run(partner: HonestPartner, ...more: string[]): Promise<[number, string, string]> {
  partners.push(partner);
  const args = [MAIN, '--base-url', await partner.start(), '--address', PLAYER, ...more];
  const env = {
    PATH: process.env['PATH'],
    LOWMARK_API_KEY: API_KEY,
    LOWMARK_SHARED_SECRET: SECRET,
  };
  const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child = started;
  let [out, err] = ['', ''];
  started.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  started.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(started, 'close')) as [number];
  for (const secret of [SECRET, API_KEY]) expect(out + err).not.toContain(secret);
  return [code, out, err];
}

describe('lowmark-conformance', () => {
  it('prints the whole report, however long, and ends by itself', async () => {
    const [code, out, err] = await run(new HonestPartner(), '--json');
    expect({ code, err: err.replace(PROGRESS, '') }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ outcome: 'conforms' });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('undoes its deductions on %s', async (signal) => {
    class Killing extends HonestPartner {
      private isKilled = false;
      override async act(call: Call): Promise<Json> {
        const done = await super.act(call);
        if (this.ledger.deductions.size === 1 && !this.isKilled) {
          this.isKilled = true;
          child?.kill(signal);
        }
        return done;
      }
    }
    const partner = new Killing();
    const [code, out, err] = await run(partner);
    expect(code).toBe(2);
    expect(err).toContain('Interrupted');
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 10 after`);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
    expect(partner.ledger.deductions.size).toBeGreaterThan(0);
  });

  it('says how far it is where it takes long', async () => {
    class Slow extends HonestPartner {
      override async act(call: Call): Promise<Json> {
        await new Promise((resolved) => setTimeout(resolved, 50));
        return super.act(call);
      }
    }
    const [code, , err] = await run(new Slow(), '--no-claim');
    expect(code).toBe(0);
    expect(err).toMatch(PROGRESS);
  });
});
