/** Tests conformance runs over several consoles, one of which is killed. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { freePort } from '#libs/devprocess';
import { hashApiKey, KeyRing } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { type ConformanceBody } from '../../apps/console/src/portal/conformance.dto.js';
import { refusalOf } from '../../apps/console/src/testing/console-harness.support.js';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import {
  API_KEY,
  aPlayer,
  SECRET,
} from '../../apps/partner/src/testing/partner-harness.support.js';
import { ServiceProgram } from '../restarts/service-program.js';
import { json, PartnerBench } from './partner-bench.support.js';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const POINTS = 5;

class ConsoleProgram extends ServiceProgram {
  static async start(bench: PartnerBench): Promise<ConsoleProgram> {
    const port = await freePort();
    const { test } = bench.console;
    const program = new ConsoleProgram('console', port, {
      ...{ CONSOLE_PORT: String(port), LISTEN_HOST: '127.0.0.1', LOG_LEVEL: 'fatal' },
      ...{ CONSOLE_ORIGIN: `http://127.0.0.1:${port}`, SECRETS_KEY },
      ...{ DATABASE_URL: test.urlAs('console'), PORTAL_DATABASE_URL: test.urlAs('portal') },
      ALLOW_PRIVATE_PARTNERS: 'true',
    });
    return program.untilReady();
  }
}

/** A proxy in front of the partner that withholds one kind of message. */
class Holder {
  /**
   * `request`: after a deduction succeeded, reverts do not reach the partner. `answer`: answers to successful
   * deductions do not reach the console.
   */
  holds: 'request' | 'answer' | 'nothing' = 'nothing';
  held = 0;
  hasTaken = false;
  private readonly server: Server;

  constructor(gamePort: number) {
    this.server = createServer((request, response) => {
      void (async () => {
        const { method = '', url = '', headers } = request;
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const isHeld = this.holds === 'request' && this.hasTaken;
        if (isHeld && url.includes('/revert')) return void (this.held += 1);
        const answer = await fetch(`http://127.0.0.1:${gamePort}${url}`, {
          method,
          headers: Object.fromEntries(
            Object.entries(headers).filter(([name]) => /^(x-api|content-type)/.test(name)),
          ) as Record<string, string>,
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        });
        const text = await answer.text();
        const isTaken = url.includes('/deduct') && text.includes('"success":true');
        this.hasTaken ||= isTaken;
        if (this.holds === 'answer' && isTaken) return void (this.held += 1);
        response.writeHead(answer.status, {
          'content-type': 'application/json',
          'x-api-signature': answer.headers.get('x-api-signature') ?? '',
        });
        return void response.end(text);
      })().catch(() => response.destroy());
    });
  }

  async start(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

let bench: PartnerBench;
let holder: Holder;
const programs: ConsoleProgram[] = [];

beforeAll(async () => {
  bench = await PartnerBench.start();
  holder = new Holder(bench.game.port);
  const port = await holder.start();
  await new CallbackStore(bench.console.database).change(bench.acme.id, () => ({
    ...{ url: `http://127.0.0.1:${port}/game/v1`, key: API_KEY },
    secretCiphertext: KeyRing.parse(SECRETS_KEY).seal(SECRET, hashApiKey(API_KEY)),
    ...{ usdPerPoint: parseDecimal('0.01'), confirms: true, capabilities: [] },
    dailyTokenBudget: parseDecimal('1000'),
  }));
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill()));
  holder.stop();
  await bench.stop();
});

async function aConsole(): Promise<ConsoleProgram> {
  bench.game.clock.set(Date.now());
  const program = await ConsoleProgram.start(bench);
  programs.push(program);
  return program;
}

async function memberOf(program: ConsoleProgram, name: string): Promise<Visitor> {
  const visitor = new Visitor(program.url);
  const standing = { kind: 'partner', partnerId: bench.acme.id } as const;
  const token = await bench.console.link(standing, name);
  expect((await visitor.post('/api/auth/link', { token })).status).toBe(200);
  return visitor;
}

const rows = () =>
  bench.console.database.query<{ points: string; transaction: boolean; late: boolean }>({
    text: `SELECT points::text, transaction_id IS NOT NULL AS transaction, due_at <= now() AS late
      FROM console.conformance_deduction`,
  });

/** Ends the time for which the rows are leased to a dead console. */
async function endLeases(): Promise<void> {
  for (const set of ['conformance_deduction SET due_at', 'conformance_run SET held_until']) {
    await bench.console.database.query({ text: `UPDATE console.${set} = now()` });
  }
}

describe('a console that is killed during a conformance run', () => {
  it.each([
    ['a deduction whose answer did not come', 'answer'],
    ['a deduction that was about to be given back', 'request'],
  ] as const)(
    'leaves %s to the next console, which gives it back',
    async (_, holds) => {
      const first = await aConsole();
      const member = await memberOf(first, `member-${holds}`);
      const address = await aPlayer(bench.game, POINTS);
      Object.assign(holder, { holds, held: 0, hasTaken: false });
      const started = member.post('/api/partner/conformance', { address, mayClaim: false });
      await json(started);
      const isTaken = async () => (await bench.pointsOf(address)) < POINTS;
      await eventually(async () => holder.held > 0 && (await isTaken()));
      await first.kill();
      expect(await isTaken()).toBe(true);
      const left = await rows();
      expect(left.length).toBeGreaterThan(0);
      expect(left.some(({ transaction }) => transaction)).toBe(holds === 'request');
      expect(left.every(({ late }) => !late)).toBe(true);
      holder.holds = 'nothing';
      await endLeases();
      const next = await aConsole();
      await eventually(async () => (await rows()).length === 0);
      expect(await bench.pointsOf(address)).toBe(POINTS);
      await next.kill();
    },
    240_000,
  );
});

describe('a conformance run', () => {
  const PATH = '/api/partner/conformance';
  const runAt = async (member: Visitor): Promise<ConformanceBody['run']> =>
    (await json<ConformanceBody>(member.get(PATH))).run;

  /** Two consoles, each with a member, and a run at the first one that waits for the partner's answer. */
  async function underWay(name: string): Promise<{
    consoles: readonly [first: ConsoleProgram, second: ConsoleProgram];
    second: Visitor;
    address: string;
  }> {
    const consoles = [await aConsole(), await aConsole()] as const;
    const first = await memberOf(consoles[0], `first-${name}`);
    const second = await memberOf(consoles[1], `second-${name}`);
    const address = await aPlayer(bench.game, POINTS);
    Object.assign(holder, { holds: 'request', held: 0, hasTaken: false });
    await json(first.post(PATH, { address, mayClaim: false }));
    await eventually(() => Promise.resolve(holder.held > 0));
    return { consoles, second, address };
  }

  it('is shown and stopped at another console than the one that makes it', async () => {
    const { consoles, second, address } = await underWay('stopped');
    await eventually(async () => ((await runAt(second))?.progress.judged ?? 0) > 0);
    expect(await runAt(second)).toMatchObject({ address, endedAt: null, report: null });
    const another = second.post(PATH, { address, mayClaim: false });
    expect(await refusalOf(another)).toBe('409 RUN_UNDER_WAY');
    holder.holds = 'nothing';
    expect((await second.delete(PATH)).status).toBe(204);
    await eventually(async () => (await runAt(second))?.endedAt != null);
    expect(await runAt(second)).toMatchObject({
      failure: null,
      report: { stopped: 'The run was interrupted.', unresolved: [] },
    });
    expect(await bench.pointsOf(address)).toBe(POINTS);
    await Promise.all(consoles.map((one) => one.kill()));
  }, 240_000);

  it('ends with the console that makes it, and another console makes the next one', async () => {
    const { consoles, second } = await underWay('killed');
    await consoles[0].kill();
    holder.holds = 'nothing';
    expect(await runAt(second)).toMatchObject({ endedAt: null, report: null });
    await endLeases();
    expect(await runAt(second)).toMatchObject({
      endedAt: expect.any(String),
      report: null,
      failure: expect.stringContaining('ended without a report'),
    });
    const address = await aPlayer(bench.game, POINTS);
    await json(second.post(PATH, { address, mayClaim: false }));
    await eventually(async () => (await runAt(second))?.endedAt != null);
    expect(await runAt(second)).toMatchObject({ address, report: { outcome: 'conforms' } });
    await consoles[1].kill();
  }, 240_000);
});
