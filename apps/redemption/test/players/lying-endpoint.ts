/**
 * An RPC endpoint beside an honest one, which alternates between false and true answers: about the number, time or hash
 * of the final block, about the time of every block, and about payouts.
 */
import { type Address } from '#libs/domain';
import { type Fault, type FaultyNode, type NodeCall, startFaultyNode } from '#libs/testing';
import { type Dice } from '../world/dice.js';

const WEEK_SECONDS = 7 * 86_400;
const OTHER_HASH = `0x${'ab'.repeat(32)}`;
/** NONE becomes CANCELLED, CLAIMED becomes NONE, CANCELLED becomes CLAIMED. */
const FALSE_STATUS = ['2', '0', '1'];
/** Probability per step of time, as the next one. */
const BEGINS = 0.06;
const ENDS = 0.2;

function lies(vault: Address): Readonly<Record<string, Fault>> {
  return {
    'a week later': { kind: 'false-final', seconds: WEEK_SECONDS },
    // Within a voucher's life, so that no clock contradicts the time.
    'minutes later': { kind: 'false-final', seconds: 240 },
    'a week earlier': { kind: 'false-final', seconds: -WEEK_SECONDS },
    'a higher number': { kind: 'false-final', blocks: 2n },
    'a lower number': { kind: 'false-final', blocks: -3n },
    'another hash': { kind: 'false-final', fields: { hash: OTHER_HASH } },
    'number, time and hash': {
      kind: 'false-final',
      seconds: WEEK_SECONDS,
      blocks: 2n,
      fields: { hash: OTHER_HASH },
    },
    'fewer final blocks': { kind: 'late-final', blocks: 3n },
    'all times': { kind: 'false-times', seconds: WEEK_SECONDS },
    'false status': {
      kind: 'lie',
      change: (call, result) => (isCallOf(call, vault) ? falseStatus(result) : undefined),
    },
    'no events': { kind: 'empty-logs' },
    'other amounts': { kind: 'altered-amount' },
    'events of a fork': { kind: 'other-fork-logs' },
  };
}

export class LyingEndpoint {
  /** Number of changed answers, by kind. */
  readonly told = new Map<string, number>();
  private name: string | undefined;
  private heard = 0;

  private constructor(
    private readonly node: FaultyNode,
    private readonly honest: FaultyNode,
    private readonly parts: {
      readonly lies: Readonly<Record<string, Fault>>;
      readonly dice: Dice;
    },
  ) {
    // The false answers begin at once, or later.
    if (parts.dice.chance(0.5)) this.begin();
  }

  static async start(upstream: string, vault: Address, dice: Dice): Promise<LyingEndpoint> {
    const [node, honest] = [
      await startFaultyNode({ upstream }),
      await startFaultyNode({ upstream }),
    ];
    return new LyingEndpoint(node, honest, { lies: lies(vault), dice });
  }

  get url(): string {
    return this.node.url;
  }

  /**
   * URL of the endpoint that always answers truly. It is as fast as the other one, since the pool asks the fastest
   * first.
   */
  get honestUrl(): string {
    return this.honest.url;
  }

  /** Begins or ends the false answers, or changes nothing. */
  step(): void {
    if (this.name === undefined) {
      if (this.parts.dice.chance(BEGINS)) this.begin();
    } else if (this.parts.dice.chance(ENDS)) {
      this.heal();
    }
  }

  /** Ends the false answers, until they begin again. */
  heal(): void {
    if (this.name === undefined) return;
    const spoilt = this.node.requests.slice(this.heard).filter(({ faults }) => faults.length > 0);
    this.told.set(this.name, (this.told.get(this.name) ?? 0) + spoilt.length);
    this.node.fault = undefined;
    this.name = undefined;
  }

  async stop(): Promise<void> {
    await Promise.all([this.node.close(), this.honest.close()]);
  }

  private begin(): void {
    const { lies, dice } = this.parts;
    this.name = dice.pick(Object.keys(lies));
    this.heard = this.node.requests.length;
    this.node.fault = lies[this.name];
  }
}

function isCallOf({ method, params }: NodeCall, vault: Address): boolean {
  const [call] = params as [{ to?: string }?];
  return method === 'eth_call' && call?.to?.toLowerCase() === vault;
}

function falseStatus(result: unknown): string | undefined {
  if (typeof result !== 'string' || !/^0x0{63}[012]$/.test(result)) return undefined;
  return `0x${'0'.repeat(63)}${FALSE_STATUS[Number(result)] ?? '0'}`;
}
