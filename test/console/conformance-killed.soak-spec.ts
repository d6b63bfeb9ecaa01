/** Tests that a console gives back the points of a conformance run whose console was killed. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { freePort } from '#libs/devprocess';
import { hashApiKey, KeyRing } from '#libs/signing';
import { eventually } from '#libs/testing';
import { Visitor } from '../../apps/console/src/testing/visitor.support-spec.js';
import {
  API_KEY,
  aPlayer,
  SECRET,
} from '../../apps/partner/src/testing/partner-harness.support-spec.js';
import { ServiceProgram } from '../restarts/service-program.js';
import { json, PartnerBench } from './partner-bench.support-spec.js';

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
  await new CallbackStore(bench.console.database).set(bench.acme.id, {
    ...{ url: `http://127.0.0.1:${port}/game/v1`, key: API_KEY },
    secretCiphertext: KeyRing.parse(SECRETS_KEY).seal(SECRET, hashApiKey(API_KEY)),
    ...{ usdPerPoint: parseDecimal('0.01'), confirms: true, capabilities: [] },
    dailyTokenBudget: parseDecimal('1000'),
  });
}, 120_000);
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
      await eventually(async () => holder.held > 0 && (await isTaken()), 60_000);
      await first.kill();
      expect(await isTaken()).toBe(true);
      const left = await rows();
      expect(left.length).toBeGreaterThan(0);
      expect(left.some(({ transaction }) => transaction)).toBe(holds === 'request');
      expect(left.every(({ late }) => !late)).toBe(true);
      holder.holds = 'nothing';
      // Ends the minute for which the rows are leased to the dead console.
      await bench.console.database.query({
        text: 'UPDATE console.conformance_deduction SET due_at = now()',
      });
      const next = await aConsole();
      await eventually(async () => (await rows()).length === 0, 60_000);
      expect(await bench.pointsOf(address)).toBe(POINTS);
      await next.kill();
    },
    240_000,
  );
});
