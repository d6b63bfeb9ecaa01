/**
 * Tests the spans that a collector receives for a redemption: requests, steps, calls to the partner and to the chain,
 * and no secrets.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { privateKeyToAccount } from 'viem/accounts';
import { testConstants } from '#libs/config';
import { PriceStore, SessionStore } from '#libs/db';
import { type Address, parseDecimal } from '#libs/domain';
import { EvidenceKeys, KeyRing, newToken } from '#libs/signing';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { FakePartner, registerPartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';
import { Echo } from '../redemption/echo.js';
import { OtlpCollector, type SeenSpan } from './otlp-collector.js';
import { TracedProgram } from './traced-program.js';

const SIGNER = privateKeyToAccount(`0x${VaultBench.SIGNER_KEY}`).address.toLowerCase() as Address;
const EVIDENCE_KEY = randomBytes(32).toString('base64');
const SECRETS_KEY = randomBytes(32).toString('base64');
const CALLBACK_KEY = `callback-key-${randomBytes(12).toString('hex')}`;
const CALLBACK_SECRET = `callback-secret-${randomBytes(12).toString('hex')}`;
const RPC_SECRET = `rpc-secret-${randomBytes(12).toString('hex')}`;
const DOMAIN = 'app.example.com';
const WALLET = aWallet(7);
const OTHER_WALLET = aWallet(8);
const [MINTED, OTHER_MINTED] = [newToken(), newToken()];
const [TOKEN, OTHER_TOKEN] = [MINTED.token, OTHER_MINTED.token];
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

let database: TestDatabase;
let bench: VaultBench;
let partner: FakePartner;
let collector: OtlpCollector;
let program: TracedProgram;
let partnerId: string;
let redemptionId: string;

/** Stores the partner, a price and the sessions of two users. */
async function prepare(): Promise<void> {
  const db = await database.open();
  partnerId = await registerPartner(db, KeyRing.parse(SECRETS_KEY), {
    name: 'the-game',
    url: partner.url,
    key: CALLBACK_KEY,
    secret: CALLBACK_SECRET,
    dailyTokenBudget: parseDecimal('1000'),
  });
  await new PriceStore(db).add({ usd: '0.15', observedAt: new Date(), source: 'fixed' });
  const seal = EvidenceKeys.parse(EVIDENCE_KEY);
  const sessions = new SessionStore(db, seal, { siweDomains: [DOMAIN] });
  const expiresAtMs = Date.now() + 86_400_000;
  for (const [{ tokenHash }, wallet] of [
    [MINTED, WALLET],
    [OTHER_MINTED, OTHER_WALLET],
  ] as const) {
    await sessions.open({ tokenHash, wallet, domain: DOMAIN, expiresAtMs });
  }
}

function redeem(points: number, token = TOKEN): Promise<Response> {
  return fetch(`${program.url}/api/redemptions?q=query-secret`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'idempotency-key': randomBytes(8).toString('hex'),
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ partner: 'the-game', points }),
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  bench = await VaultBench.start({ canceller: SIGNER });
  await bench.mineAt(Math.floor(Date.now() / 1000) - 60);
  await bench.finalise();
  partner = await FakePartner.start(CALLBACK_SECRET);
  const echo = new Echo(CALLBACK_SECRET);
  partner.behave = (call) => echo.answer(call);
  collector = await OtlpCollector.start();
  await prepare();
  program = await TracedProgram.start('redemption', {
    DATABASE_URL: database.url,
    SECRETS_KEY,
    EVIDENCE_KEY,
    CHAIN_ID: String(bench.chain.chainId),
    RPC_URLS: `${bench.chain.url}/?key=${RPC_SECRET}`,
    TOKEN_CONTRACT: bench.chain.contracts.token,
    VAULT_CONTRACT: bench.vault,
    VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
    SIWE_DOMAINS: DOMAIN,
    ALLOW_PRIVATE_PARTNERS: 'true',
    ...testConstants({ payoutPollMs: 200 }),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'redeeming',
  });
  const answer = await redeem(100);
  expect(answer.status).toBe(201);
  ({ id: redemptionId } = (await answer.json()) as { id: string });
});

afterAll(async () => {
  await program.kill();
  await collector.stop();
  await partner.stop();
  await bench.stop();
  await database.drop();
});

const stepOf = (name: string) => (span: SeenSpan) =>
  span.name === `step ${name}` &&
  (span.attributes['lowmark.redemption_id'] === redemptionId ||
    String(span.attributes['lowmark.redemption_ids']).includes(redemptionId));

describe('a redemption', () => {
  it('begins with a request of the caller’s trace, whose body was read before the database was asked', async () => {
    const served = await collector.seen(({ kind, traceId }) => kind === 2 && traceId === TRACE_ID);
    expect(served).toMatchObject({ service: 'redeeming', name: 'POST /api/redemptions' });
    const isWrite = (span: SeenSpan) =>
      span.traceId === TRACE_ID && span.name === 'redemption_create';
    const write = await collector.seen(isWrite);
    const transaction = await collector.seen(({ spanId }) => spanId === write.parentSpanId);
    expect(transaction).toMatchObject({ name: 'TRANSACTION', parentSpanId: served.spanId });
  });

  it('has a step that calls the partner', async () => {
    const step = await collector.seen(stepOf('deduct'));
    expect(step).toMatchObject({ kind: 1, parentSpanId: '', failed: false });
    expect(step.attributes).toMatchObject({
      'lowmark.partner_id': partnerId,
      'lowmark.state': 'created',
      'lowmark.next_state': 'deducted',
      'lowmark.outcome': 'moved',
    });
    const calls = collector.childrenOf(step).filter(({ name }) => name.startsWith('POST '));
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ name: 'POST /deduct-points-by-address', kind: 3 });
    expect(calls[0]?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.template': '/deduct-points-by-address',
      'lowmark.partner_id': partnerId,
      'lowmark.outcome': 'answer',
      'lowmark.verdict': 'verified',
    });
    expect(calls[0]?.attributes['lowmark.api_request']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('has a look at the chain, which names the endpoint by its host', async () => {
    const isCall = (span: SeenSpan) => span.attributes['rpc.system.name'] === 'jsonrpc';
    const step = await collector.seen(stepOf('observe'));
    expect(step.parentSpanId).toBe('');
    const call = await collector.seen(isCall);
    expect(call.kind).toBe(3);
    expect(call.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'lowmark.endpoint': `${new URL(bench.chain.url).host}#1`,
      'lowmark.outcome': 'ok',
    });
    expect(call.attributes['rpc.method']).toMatch(/^eth_/);
  });

  it('gives its lines of the log the ids of the trace', async () => {
    const { traceId } = await collector.seen(({ name }) => name === 'reconciliation');
    const line = program.log.find(({ msg }) => msg === 'Reconciled the ledger with the chain');
    expect(line).toMatchObject({ traceId });
    // The log line is written within the transaction that locks out other processes, so its span is inside the trace.
    const span = await collector.seen(({ spanId }) => spanId === line?.['spanId']);
    expect(span.traceId).toBe(traceId);
    const serving = program.log.find(({ msg }) => msg === 'Serving');
    expect(serving).toBeDefined();
    expect(serving).not.toHaveProperty('traceId');
  });

  it('tells the partner nothing of its trace', () => {
    const names = partner.calls.flatMap(({ headers }) => Object.keys(headers));
    expect(names).toContain('x-api-request');
    for (const name of ['traceparent', 'tracestate', 'baggage', 'b3']) {
      expect(names).not.toContain(name);
    }
  });

  it('leaves nothing secret, also where what is tried fails', async () => {
    await partner.stop();
    expect((await redeem(100, OTHER_TOKEN)).status).toBe(503);
    const failed = (span: SeenSpan) => span.failed && span.name.startsWith('GET /get-points');
    expect((await collector.seen(failed)).attributes['lowmark.outcome']).toBe('nothing-sent');
    await program.terminate();
    const sent = collector.bodies.join('\n');
    const secrets = [
      CALLBACK_KEY,
      CALLBACK_SECRET,
      SECRETS_KEY,
      EVIDENCE_KEY,
      VaultBench.SIGNER_KEY,
      RPC_SECRET,
    ];
    secrets.push(
      TOKEN,
      OTHER_TOKEN,
      'query-secret',
      database.url,
      WALLET.slice(2),
      OTHER_WALLET.slice(2),
    );
    for (const secret of secrets) {
      expect({ secret, sent: sent.includes(secret) }).toEqual({ secret, sent: false });
    }
  });
});
