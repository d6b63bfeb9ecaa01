import { setImmediate as nextTurn } from 'node:timers/promises';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type WindowSink } from '#libs/db';
import {
  type AccountId,
  accountIdText,
  type Address,
  type DayBalance,
  dayText,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { Admissions, requireCaller } from '../auth/admission.js';
import { type Caller } from '../auth/credential-cache.js';
import { errorBody } from '../http/error-body.js';
import { sendSigned } from '../http/signed-wire.js';
import { type BatchEntry, BatchRequest, MAX_BATCH_BYTES, parseBatch } from './batch.dto.js';
import {
  bodyAt,
  bodyParts,
  freshPriceOf,
  indexHeaders,
  isoTime,
  noStake,
  type Rendering,
  requireCovered,
  requireNoFinding,
  snapshotOf,
  unavailable,
} from './snapshot-answer.js';
import { BatchContract } from './snapshots.contract.js';
import { askedWindow } from './snapshots.dto.js';
import { StakeSets } from './stake-sets.js';

/** Wallets rendered before other requests have their turn. */
const RENDERED_AT_ONCE = 25;

type DaysByWallet = ReadonlyMap<Address, readonly DayBalance[]>;

interface BatchExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

/** The inputs that all results of a batch share. */
interface BatchRendering extends Omit<Rendering, 'wallet' | 'contract'> {
  readonly contract: AccountId | undefined;
  readonly requestedAt: string;
}

/**
 * `POST /api/staking/snapshots/batch`: up to a thousand wallets from one state of the index, by one statement, under
 * one signature. See `docs/wire/batch.md`.
 *
 * Registered with Fastify directly, as `SnapshotsRoute` is, and with a larger body limit than other routes.
 */
@Controller('api/staking/snapshots/batch')
export class BatchRoute {
  constructor(
    private readonly stakeSets: StakeSets,
    private readonly admissions: Admissions,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  register(fastify: FastifyInstance): void {
    fastify.post(
      '/api/staking/snapshots/batch',
      {
        bodyLimit: MAX_BATCH_BYTES,
        // The caller is checked before the body is read.
        onRequest: (request, _reply, done) => {
          requireCaller(request.admission);
          done();
        },
      },
      (request, reply) => {
        const caller = requireCaller(request.admission);
        return this.read(request.body as BatchRequest, { request, reply, caller });
      },
    );
  }

  /**
   * @throws HttpProblem 400 (the body, the size), 404 (the contract is not indexed), 409 (endDay), 429, 503 (the index
   * does not cover the window); errors of the database
   */
  @Post()
  @HttpCode(200)
  @BatchContract
  async read(@Body() body: BatchRequest, { request, reply, caller }: BatchExchange): Promise<void> {
    const requestedAtMs = this.clock.nowMs();
    const batch = parseBatch(body, caller.burst);
    const { entries, contract } = batch;
    const window = askedWindow(batch, requestedAtMs);
    await this.admissions.countAs(request, caller, batch.size);
    const { reader, holds } = await this.stakeSets.readerFor(contract, caller.stakeSet);
    const wallets = entries.flatMap(({ wallet }) => wallet ?? []);
    const requestedAt = isoTime(requestedAtMs);
    const found = await reader.readWindow(wallets, window, (state) => {
      const usd = freshPriceOf(state, requestedAtMs, this.settings);
      return new BatchResults(entries, { window, state, usd, contract, requestedAt });
    });
    if (found === undefined || !holds(found.state)) throw unavailable('not-synced');
    const { state, sink } = found;
    requireCovered(state, window, requestedAtMs, this.settings);
    requireNoFinding(state, wallets);
    // Canonical as written: the keys are in the order in which RFC 8785 sorts them.
    const head =
      (contract === undefined
        ? '{'
        : `{"chainId":${contract.chainId},"contract":"${accountIdText(contract)}",`) +
      `"endDay":"${dayText(window.endDay - 1)}","lastDays":${batch.lastDays}` +
      `,"requestedAt":"${requestedAt}","results":[`;
    const answer = Buffer.concat([Buffer.from(head), ...(await sink.all()), Buffer.from(']}')]);
    sendSigned({ request, reply }, answer, indexHeaders(state, window));
  }
}

/**
 * The results of a batch, in the order of the request. They are rendered while further wallets are read, and other
 * requests have their turn between two pieces.
 */
class BatchResults implements WindowSink {
  /** Results as bytes. Strings that live until the last result is rendered would cost more than all other work. */
  private readonly rendered: Buffer[] = [];
  private rendering = Promise.resolve();
  private next = 0;

  constructor(
    private readonly entries: readonly BatchEntry[],
    private readonly common: BatchRendering,
  ) {}

  add(wallets: readonly Address[], days: DaysByWallet): void {
    const last = wallets.at(-1);
    if (last === undefined) return;
    const end = this.entries.findIndex(({ wallet }) => wallet === last) + 1;
    const rendering = this.rendering.then(() => this.renderUpTo(end, days));
    // Nothing awaits these results where the read is repeated on another server, so a failure must not count as
    // unhandled.
    rendering.catch(() => undefined);
    this.rendering = rendering;
  }

  /** All results. Called once all wallets have been read. */
  async all(): Promise<readonly Buffer[]> {
    await this.rendering;
    await this.renderUpTo(this.entries.length, new Map());
    return this.rendered;
  }

  private async renderUpTo(end: number, days: DaysByWallet): Promise<void> {
    while (this.next < end) {
      await nextTurn();
      const from = this.next;
      this.next = Math.min(from + RENDERED_AT_ONCE, end);
      const some = this.entries.slice(from, this.next);
      const text = some.map((entry) => resultOf(entry, days, this.common)).join(',');
      this.rendered.push(Buffer.from(from > 0 ? `,${text}` : text));
    }
  }
}

function resultOf(
  { index, wallet }: BatchEntry,
  days: DaysByWallet,
  { window, state, usd, contract, requestedAt }: BatchRendering,
): string {
  if (wallet === undefined) {
    const message = `walletAddresses[${index}] must be 0x and 40 hex digits.`;
    return `{"body":${errorBody(new HttpProblem(400, message))},"index":${index},"status":400}`;
  }
  const ofWallet = days.get(wallet);
  const account = contract && accountIdText(contract);
  const snapshot =
    ofWallet && snapshotOf(ofWallet, { wallet, window, state, usd, contract: account });
  const body = snapshot
    ? bodyAt(bodyParts(snapshot), requestedAt)
    : errorBody(noStake(wallet, { contract, requestedAt }));
  const status = snapshot === undefined ? 404 : 200;
  return `{"body":${body},"index":${index},"status":${status},"walletAddress":"${wallet}"}`;
}
