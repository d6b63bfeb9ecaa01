/**
 * A simulated provider of a synthetic chain: a JSON-RPC server on the loopback interface with the behaviour, limits and
 * faults of real providers. Several providers may serve one chain. Besides JSON-RPC (POST /) it offers routes for
 * benchmarks in other processes: GET /-/stats returns its ProviderStats, PUT /-/behaviour takes a ProviderBehaviour,
 * and there are POST /-/reset and POST /-/extend?blocks=n.
 */
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopbackServer } from '../../libs/testing/src/wire/loopback-server.js';
import { type ProviderBehaviour, type RubbishKind } from './provider-behaviour.js';
import { sendJson, sendRubbish } from './provider-body.js';
import { OVER_BUDGET, ProviderGate } from './provider-gate.js';
import { type ProviderStats, type ReplayCall, StatsKeeper } from './provider-stats.js';
import { ReplayChain } from './replay-chain.js';
import { ReplayFault } from './replay-fault.js';
import { type JsonParts, ReplayMethods, ReplaySource } from './replay-methods.js';
import { type ReplayShape } from './replay-shape.js';
import { SeededRandom } from './seeded.js';

export interface ReplayProviderOptions {
  /** The shape of a chain of its own, or the source that it shares with another provider. */
  readonly source: ReplayShape | ReplaySource;
  readonly behaviour?: ProviderBehaviour;
  /** Whether to count repeated calls, which takes memory. */
  readonly tracksRepeats?: boolean;
}

export class ReplayProvider extends LoopbackServer {
  readonly source: ReplaySource;
  private readonly keeper: StatsKeeper;
  private random!: SeededRandom;
  private gate!: ProviderGate;
  private methods!: ReplayMethods;
  private behaviour: ProviderBehaviour = {};

  constructor({ source, behaviour = {}, tracksRepeats = false }: ReplayProviderOptions) {
    super();
    this.source =
      source instanceof ReplaySource ? source : new ReplaySource(new ReplayChain(source));
    this.keeper = new StatsKeeper(tracksRepeats);
    this.setFaults(behaviour);
    // Closing an idle connection while a client sends on it would be a fault that no behaviour asked for.
    this.server.keepAliveTimeout = 600_000;
    this.server.requestTimeout = 0;
  }

  get chain(): ReplayChain {
    return this.source.chain;
  }

  stats(): ProviderStats {
    return this.keeper.read();
  }

  resetStats(): void {
    this.keeper.reset();
  }

  /** Sets the faults from now on. Random choices, the budget and outages start again. */
  setFaults(behaviour: ProviderBehaviour): void {
    this.behaviour = behaviour;
    this.random = new SeededRandom(behaviour.seed ?? 1);
    this.gate = new ProviderGate(behaviour, this.random);
    this.methods = new ReplayMethods(this.source, behaviour, this.random);
  }

  /** Appends blocks to the chain, which all its providers share. */
  extend(blocks: number): void {
    this.chain.extend(blocks);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isControl = request.url?.startsWith('/-/') === true;
    if (!isControl) {
      this.keeper.began();
      response.on('close', () => {
        this.keeper.ended();
      });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (isControl) this.control(request, body, response);
    else await this.answer(body, response);
  }

  private control({ url = '' }: IncomingMessage, body: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, this.url);
    if (pathname === '/-/behaviour') this.setFaults(JSON.parse(body) as ProviderBehaviour);
    if (pathname === '/-/reset') this.resetStats();
    if (pathname === '/-/extend') this.extend(Number(searchParams.get('blocks') ?? 1));
    sendJson(response, [JSON.stringify(this.stats())]);
  }

  private async answer(body: string, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(body) as ReplayCall | readonly ReplayCall[];
    const calls: readonly ReplayCall[] = Array.isArray(asked) ? asked : [asked as ReplayCall];
    this.keeper.arrived(calls);
    this.keeper.sent(await this.reply(calls, Array.isArray(asked), response));
  }

  /**
   * @returns the size of the body in bytes; 0 for a request that is refused, lost or answered with rubbish of the
   * socket
   */
  private async reply(
    calls: readonly ReplayCall[],
    isBatch: boolean,
    response: ServerResponse,
  ): Promise<number> {
    const { latencyMs = 0 } = this.behaviour;
    const admission = this.gate.request(calls, performance.now());
    const rubbish = admission.kind === 'admitted' ? this.rubbish() : undefined;
    const isMade = rubbish === 'wrong-ids' || rubbish === 'error-object';
    if (admission.kind !== 'admitted' || rubbish !== undefined) this.keeper.refused(calls);
    if (latencyMs > 0) await sleep(latencyMs);
    if (admission.kind === 'lost') {
      if (admission.how === 'reset') response.destroy();
      return 0;
    }
    if (admission.kind === 'refused') {
      refuse(response, admission.status, admission.retryAfterSeconds);
      return 0;
    }
    if (rubbish !== undefined && !isMade) {
      await sendRubbish(response, rubbish);
      return 0;
    }
    if (isMade) return sendJson(response, madeRubbish(rubbish, calls));
    return sendJson(response, this.answers(calls, isBatch));
  }

  private answers(calls: readonly ReplayCall[], isBatch: boolean): JsonParts {
    const { batchCap } = this.behaviour;
    const isOver = batchCap !== undefined && calls.length > batchCap.calls;
    if (isOver && batchCap.style !== 'rest') {
      for (const call of calls) this.keeper.call(call, 'failed');
      const fault = new ReplayFault(-32600, batchCapText(batchCap.calls));
      return batchCap.style === 'object'
        ? faultParts(null, fault)
        : ['[', ...faultParts(calls[0]?.id, fault), ']'];
    }
    const parts: (string | Buffer)[] = [];
    for (const [index, call] of calls.entries()) {
      if (index > 0) parts.push(',');
      const isBeyond = isOver && index >= batchCap.calls;
      parts.push(...(isBeyond ? this.beyond(call) : this.answerCall(call)));
    }
    return isBatch ? ['[', ...parts, ']'] : parts;
  }

  private beyond(call: ReplayCall): JsonParts {
    this.keeper.call(call, 'failed');
    return faultParts(
      call.id,
      new ReplayFault(-32600, batchCapText(this.behaviour.batchCap?.calls ?? 0)),
    );
  }

  private answerCall(call: ReplayCall): JsonParts {
    const refused = this.gate.call(call, performance.now());
    if (refused) {
      this.keeper.call(call, 'refused');
      return faultParts(call.id, refused);
    }
    try {
      const result = this.methods.answer(call);
      this.keeper.call(call, 'answered');
      return [`{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":`, ...result, '}'];
    } catch (error) {
      if (!(error instanceof ReplayFault)) throw error;
      this.keeper.call(call, 'failed');
      return faultParts(call.id, error);
    }
  }

  private rubbish(): RubbishKind | undefined {
    const { rubbish } = this.behaviour;
    if (!rubbish || this.random.next() >= rubbish.share) return undefined;
    return rubbish.kinds[this.random.between(0, rubbish.kinds.length - 1)];
  }
}

/** Starts a provider on a free port of the loopback interface. */
export async function startReplayProvider(options: ReplayProviderOptions): Promise<ReplayProvider> {
  return new ReplayProvider(options).listen();
}

function batchCapText(calls: number): string {
  return `Batch of more than ${calls} requests are not allowed`;
}

function faultParts(id: unknown, { code, message, data }: ReplayFault): JsonParts {
  const error = { code, message, ...(data !== undefined && { data }) };
  return [JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error })];
}

function refuse(response: ServerResponse, status: 429 | 503, retryAfterSeconds?: number): void {
  const text = status === 429 ? OVER_BUDGET : 'Service Unavailable';
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: status, message: text } }));
}

function madeRubbish(kind: 'wrong-ids' | 'error-object', calls: readonly ReplayCall[]): JsonParts {
  if (kind === 'error-object')
    return [
      JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32603, message: 'internal error' },
      }),
    ];
  return [
    JSON.stringify(calls.map((_, index) => ({ jsonrpc: '2.0', id: -1 - index, result: null }))),
  ];
}
