/** Reads the claims of a vault up to the newest block, from each of two providers separately, if there are two. */
import { type Address, type BlockRef } from '#libs/domain';
import { questionTo, Quorum, type Statement } from '../quorum/quorum.js';
import { type Finality, parseFinality, readHeads } from '../reader/final-blocks.js';
import { countProviders } from '../rpc/endpoint-urls.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { refOf } from '../blocks/header.js';
import { type VaultEvent } from './vault-event.js';
import { VaultLogReader } from './vault-log-reader.js';

type ClaimedEvent = Extract<VaultEvent, { readonly kind: 'claimed' }>;

export interface ShownClaim {
  readonly event: ClaimedEvent;
  readonly shownBy: readonly string[];
  /** Endpoints that have the block of the claim and do not show the claim. */
  readonly missedBy: readonly string[];
}

interface ClaimLook {
  readonly claims: readonly ShownClaim[];
  /** The lowest final block of the endpoints. */
  readonly finalised: bigint;
  /** False if a second provider is configured and could not be asked, so claims may be missing. */
  readonly isComplete: boolean;
}

interface Reading {
  readonly latest: BlockRef;
  readonly finalised: bigint;
  readonly claims: readonly ClaimedEvent[];
}

interface Span {
  readonly vault: Address;
  /** First block; undefined: the first block that is not final. */
  readonly from: bigint | undefined;
}

export class ClaimReader {
  private readonly finality: Finality;
  /** One reader for each vault, which learns how many blocks the endpoints accept at once. */
  private readonly logs = new Map<Address, VaultLogReader>();

  /** @param finality FINALITY. @throws PermanentError where it is invalid */
  constructor(
    private readonly pool: RpcPool,
    finality: string,
  ) {
    this.finality = parseFinality(finality);
  }

  /**
   * A claim counts where one endpoint shows it, with the header of its block and the receipt of its transaction.
   * Another endpoint may leave it out, and cannot hide it.
   * @throws AllEndpointsFailedError; the signal's reason
   */
  async read(span: Span, signal?: AbortSignal): Promise<ClaimLook> {
    const { endpoints } = this.pool;
    const [first, second] = await new Quorum(endpoints).two(
      questionTo(this.pool, (session) => this.readBy(session, span), signal),
      { mayFail: true },
    );
    const readings = second ? [first, second] : [first];
    const finals = readings.map(({ value }) => value.finalised);
    return {
      claims: united(readings),
      finalised: finals.reduce((lowest, one) => (one < lowest ? one : lowest)),
      isComplete: readings.length === Math.min(2, countProviders(endpoints)),
    };
  }

  private async readBy(session: RpcSession, { vault, from }: Span): Promise<Reading> {
    const heads = await readHeads(session, this.finality);
    const latest = refOf(heads.latest.header);
    const finalised = heads.finalised.header.number;
    // Blocks that are not final are read each time, however far ahead the cursor is.
    const first = from === undefined || from > finalised ? finalised + 1n : from;
    const events = await this.readerOf(vault).read(session, { from: first, head: latest });
    return { latest, finalised, claims: events.filter((event) => event.kind === 'claimed') };
  }

  private readerOf(vault: Address): VaultLogReader {
    const known = this.logs.get(vault) ?? new VaultLogReader(vault);
    this.logs.set(vault, known);
    return known;
  }
}

function keyOf({ vaultId, transactionHash, recipient, amount }: ClaimedEvent): string {
  return [vaultId, transactionHash, recipient, amount].join(' ');
}

function united(readings: readonly Statement<Reading>[]): ShownClaim[] {
  const events = new Map<string, ClaimedEvent>();
  for (const { value } of readings) {
    for (const event of value.claims) events.set(keyOf(event), event);
  }
  const shown = readings.map(({ value }) => new Set(value.claims.map(keyOf)));
  return [...events].map(([key, event]) => ({
    event,
    shownBy: readings.flatMap(({ endpoint }, at) => (shown[at]?.has(key) ? [endpoint] : [])),
    missedBy: readings.flatMap(({ endpoint, value }, at) =>
      !shown[at]?.has(key) && value.latest.number >= event.block.number ? [endpoint] : [],
    ),
  }));
}
