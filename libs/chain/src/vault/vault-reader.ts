/** What became of authorised payouts, by final blocks only. */
import {
  type Address,
  type BlockHeader,
  type BlockRef,
  type CancelEvent,
  type ClaimEvent,
  type PayoutEvidence,
  payoutEvidence,
  type PayoutTerms,
  type VaultSighting,
  type VaultStatus,
} from '#libs/domain';
import { AllEndpointsFailedError } from '../errors/rpc.errors.js';
import { ChainReader } from '../reader/chain-reader.js';
import { PinnedCalls } from '../reader/pinned-calls.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { type VaultEvent } from './vault-event.js';
import { type VaultId, vaultIdOf } from './vault-id.js';
import { VaultLogReader, type VaultSpan } from './vault-log-reader.js';
import { readVaultStatuses } from './vault-status.js';

export interface VaultReaderOptions {
  /** The vault that the vouchers name; one of another deployment needs its own reader. */
  readonly vault: Address;
  readonly token: Address;
  /** FINALITY: `finalized` (default), `safe` or `depth:<blocks>`. */
  readonly finality?: string;
}

/** An authorised payout to be watched. */
export interface WatchedPayout extends PayoutTerms {
  /** UUIDv7. */
  readonly redemptionId: string;
  /**
   * Where the search for its events begins: the newest block that was final before the voucher was signed, or an older one. Too
   * high a number shows as a contradiction, never as false evidence.
   */
  readonly fromBlock: bigint;
}

interface Watch extends WatchedPayout {
  readonly vaultId: VaultId;
}

/** Ids in one filter of eth_getLogs. */
const WATCHED_AT_ONCE = 50;

export class VaultReader {
  private readonly chain: ChainReader;
  private readonly calls = new PinnedCalls();
  private readonly logs: VaultLogReader;
  /** How many nodes must see the same end of a payout: two, where there are two. */
  private readonly witnesses: number;

  /** @throws PermanentError where FINALITY is wrong */
  constructor(
    private readonly pool: RpcPool,
    private readonly options: VaultReaderOptions,
  ) {
    const { finality, vault } = options;
    this.chain = new ChainReader(pool, finality === undefined ? {} : { finality });
    this.logs = new VaultLogReader(vault);
    this.witnesses = Math.min(2, pool.endpoints.length);
  }

  /** The newest final block; what a new payout plan keeps as its `fromBlock`. */
  async finalised(): Promise<BlockHeader> {
    return (await this.chain.heads()).finalised;
  }

  /** In the order of the ids, at the end of exactly this block. @see readVaultStatuses */
  statuses(ids: readonly VaultId[], block: BlockRef): Promise<VaultStatus[]> {
    return this.pool.run((session) => this.statusesBy(session, ids, block));
  }

  /** The claims and cancellations of the blocks from `from` up to the final block `head`, in the order of the chain. */
  events(span: VaultSpan): Promise<VaultEvent[]> {
    return this.pool.run((session) => this.logs.read(session, span));
  }

  /**
   * The same by two nodes, where there are two: a node that leaves some out is made good by another, and what is in a receipt needs no
   * second word. One that cannot be asked now is done without.
   */
  async witnessedEvents(span: VaultSpan, signal?: AbortSignal): Promise<VaultEvent[]> {
    const read = (avoid: readonly string[]) =>
      this.pool.run(
        async (session) => ({
          witness: session.endpoint,
          events: await this.logs.read(session, span),
        }),
        { avoid, patient: avoid.length === 0, signal },
      );
    const { witness, events } = await read([]);
    if (this.witnesses < 2) return events;
    try {
      return united(events, (await read([witness])).events);
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      return events;
    }
  }

  /**
   * The evidence about each payout at the newest final block, in their order. A doubt says what does not fit; it is worth an alert,
   * and asking again costs nothing.
   * @throws PermanentError where an id is not a UUIDv7
   * @throws AllEndpointsFailedError where no node can be asked now; ExecutionRevertedError where VAULT_CONTRACT is no vault
   */
  async observe(payouts: readonly WatchedPayout[]): Promise<PayoutEvidence[]> {
    if (payouts.length === 0) return [];
    const watches = payouts.map((payout) => ({
      ...payout,
      vaultId: vaultIdOf(payout.redemptionId),
    }));
    const finalised = plain(await this.finalised());
    const evidence = new Map<Watch, PayoutEvidence>();
    // Neighbours in time share a search, which is as long as that of the oldest.
    const byAge = [...watches].sort((a, b) => Number(a.fromBlock - b.fromBlock));
    for (let at = 0; at < byAge.length; at += WATCHED_AT_ONCE) {
      const part = byAge.slice(at, at + WATCHED_AT_ONCE);
      const found = await this.observePart(part, finalised);
      for (const [index, watch] of part.entries()) {
        evidence.set(watch, found[index] ?? { outcome: 'live' });
      }
    }
    return watches.map((watch) => evidence.get(watch) ?? { outcome: 'live' });
  }

  /** One node looks at all; whatever has come to an end by its word is looked at by a second one. */
  private async observePart(
    watches: readonly Watch[],
    finalised: BlockRef,
  ): Promise<PayoutEvidence[]> {
    const first = await this.look(watches, finalised, []);
    const sightings = watches.map((_, index) => first.slice(index, index + 1));
    const judge = (watch: Watch, index: number): PayoutEvidence =>
      payoutEvidence(watch, sightings[index] ?? [], this.witnesses);
    const unconfirmed = watches.flatMap((watch, index) => {
      const judged = judge(watch, index);
      const needs = judged.outcome === 'live' && judged.doubt?.kind === 'unconfirmed';
      return needs ? [{ watch, index }] : [];
    });
    if (unconfirmed.length > 0) {
      const second = await this.confirm(
        unconfirmed.map(({ watch }) => watch),
        finalised,
        first[0]?.witness ?? '',
      );
      for (const [place, { index }] of unconfirmed.entries()) {
        const sighting = second[place];
        if (sighting) sightings[index]?.push(sighting);
      }
    }
    return watches.map(judge);
  }

  /** @returns nothing where no second node can be asked now */
  private async confirm(
    watches: readonly Watch[],
    finalised: BlockRef,
    witness: string,
  ): Promise<VaultSighting[]> {
    try {
      return await this.look(watches, finalised, [witness]);
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      return [];
    }
  }

  /** Status and events of all, by one and the same node. */
  private look(
    watches: readonly Watch[],
    finalised: BlockRef,
    avoid: readonly string[],
  ): Promise<VaultSighting[]> {
    const ids = watches.map(({ vaultId }) => vaultId);
    const from = watches.reduce(
      (lowest, { fromBlock }) => (fromBlock < lowest ? fromBlock : lowest),
      finalised.number + 1n,
    );
    return this.pool.run(
      async (session) => {
        const statuses = await this.statusesBy(session, ids, finalised);
        const events = await this.logs.read(session, { from, head: finalised, ids });
        return statuses.map((status, index) => {
          const own = events.filter(({ vaultId }) => vaultId === ids[index]);
          return { witness: session.endpoint, finalised, status, ...split(own) };
        });
      },
      { avoid, patient: avoid.length === 0 },
    );
  }

  private statusesBy(
    session: RpcSession,
    ids: readonly VaultId[],
    block: BlockRef,
  ): Promise<VaultStatus[]> {
    const { vault, token } = this.options;
    return readVaultStatuses(session, ids, block, { calls: this.calls, vault, token });
  }
}

/** Each once; those that only the second node has come last. */
function united(events: readonly VaultEvent[], others: readonly VaultEvent[]): VaultEvent[] {
  const key = ({ kind, vaultId, block }: VaultEvent) => `${kind} ${vaultId} ${block.hash}`;
  const known = new Set(events.map(key));
  return [...events, ...others.filter((event) => !known.has(key(event)))];
}

function split(events: readonly VaultEvent[]): Pick<VaultSighting, 'claims' | 'cancellations'> {
  const claims: ClaimEvent[] = [];
  const cancellations: CancelEvent[] = [];
  for (const event of events) {
    const { transactionHash, block } = event;
    if (event.kind === 'cancelled') cancellations.push({ transactionHash, block });
    else {
      const { recipient, amount } = event;
      claims.push({ transactionHash, block, recipient, amount });
    }
  }
  return { claims, cancellations };
}

function plain({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds };
}
