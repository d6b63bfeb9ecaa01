/**
 * A misbehaving node for tests: a proxy over real sockets in front of a local chain (or of recorded answers), with
 * faults that a test can change at any time. Without a fault it passes every call on.
 */
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopbackServer } from '../wire/loopback-server.js';
import { applyBatchFault, applyCallFault } from './call-faults.js';
import { applyChainFault } from './chain-faults.js';
import {
  type BatchFault,
  type BodyFault,
  type CallFault,
  type ChainFault,
  type Fault,
  layerOf,
} from './fault.js';
import { askUpstream, type NodeAnswer, type NodeCall, type Upstream } from './node-call.js';
import { sendBody } from './wire-faults.js';

export interface FaultyNodeOptions {
  readonly upstream: Upstream;
  readonly fault?: Fault | readonly Fault[];
}

export interface NodeRequest {
  readonly calls: readonly NodeCall[];
  /** The kinds of the faults that changed the answer. */
  readonly faults: string[];
}

interface ActiveFault {
  readonly fault: Fault;
  left: number;
}

export class FaultyNode extends LoopbackServer {
  /** Every request, in order of arrival. */
  readonly requests: NodeRequest[] = [];
  private active: ActiveFault[] = [];

  constructor(private readonly upstream: Upstream) {
    super();
  }

  /** The active faults, which work together. Setting them restarts the count of `times`. */
  get fault(): readonly Fault[] {
    return this.active.filter(({ left }) => left > 0).map(({ fault }) => fault);
  }

  set fault(fault: Fault | readonly Fault[] | undefined) {
    const list: readonly Fault[] = fault === undefined ? [] : isList(fault) ? fault : [fault];
    this.active = list.map((one) => ({ fault: one, left: one.times ?? Infinity }));
  }

  /** The number of calls of a method so far. */
  count(method: string): number {
    return this.requests.flatMap(({ calls }) => calls).filter((call) => call.method === method)
      .length;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as NodeCall | NodeCall[];
    const calls = Array.isArray(asked) ? asked : [asked];
    const entry: NodeRequest = { calls, faults: [] };
    this.requests.push(entry);
    const faults = this.active.filter(
      ({ fault, left }) => left > 0 && (fault.when?.(calls) ?? true),
    );
    const of = (layer: string): ActiveFault[] =>
      faults.filter(({ fault }) => layerOf(fault) === layer);
    const use = (one: ActiveFault): void => {
      one.left--;
      entry.faults.push(one.fault.kind);
    };
    for (const one of of('instead')) {
      use(one);
      if (await takeItsPlace(one.fault, response)) return;
    }
    const answers = await askUpstream(this.upstream, calls);
    for (const one of of('chain')) {
      if (await this.applyChain(one.fault as ChainFault, calls, answers)) use(one);
    }
    for (const one of of('call')) {
      if (applyCallFault(one.fault as CallFault, calls, answers)) use(one);
    }
    let body: unknown = Array.isArray(asked) ? answers : answers[0];
    for (const one of of('batch')) {
      const changed = applyBatchFault(one.fault as BatchFault, calls, answers);
      if (changed) use(one);
      body = changed ?? body;
    }
    const [broken] = of('body');
    if (broken) use(broken);
    sendBody(response, JSON.stringify(body), broken?.fault as BodyFault | undefined);
  }

  private applyChain(
    fault: ChainFault,
    calls: readonly NodeCall[],
    answers: NodeAnswer[],
  ): Promise<boolean> {
    const ask = (more: readonly NodeCall[]): Promise<NodeAnswer[]> =>
      askUpstream(this.upstream, more);
    const head = async (): Promise<bigint> => {
      const [answer] = await ask([{ id: 0, method: 'eth_blockNumber', params: [] }]);
      return BigInt(answer?.result as string);
    };
    return applyChainFault(fault, calls, answers, { ask, head });
  }
}

/** @returns whether the fault takes the place of the answer */
async function takeItsPlace(fault: Fault, response: ServerResponse): Promise<boolean> {
  if (fault.kind === 'delay') {
    await sleep(fault.ms);
    return false;
  }
  if (fault.kind === 'reset') response.destroy();
  if (fault.kind === 'status') {
    const { retryAfter, body = 'no' } = fault;
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    response.writeHead(fault.status, { 'content-type': 'text/plain', ...headers }).end(body);
  }
  return true;
}

function isList(fault: Fault | readonly Fault[]): fault is readonly Fault[] {
  return Array.isArray(fault);
}

/** Starts a faulty node on a free port of the loopback interface. Call `close()` after the test. */
export async function startFaultyNode(options: FaultyNodeOptions): Promise<FaultyNode> {
  const node = new FaultyNode(options.upstream);
  node.fault = options.fault;
  return node.listen();
}
