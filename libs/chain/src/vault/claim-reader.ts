/** Reads the claims of a vault up to the newest block, from each of two endpoints separately, where there are two. */
import { type Address, type BlockRef } from '#libs/domain';
import { unlessAllFail } from '../errors/rpc.errors.js';
import { type Finality, parseFinality, readHeads } from '../reader/final-blocks.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { refOf } from '../shape/header.js';
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
  /** False where a second endpoint is configured and could not be asked, so claims may be missing. */
  readonly isComplete: boolean;
}

interface Reading {
  readonly endpoint: string;
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
    const first = await this.readBy(span, [], signal);
    const isAlone = this.pool.endpoints.length < 2;
    const second = isAlone
      ? undefined
      : await unlessAllFail(this.readBy(span, [first.endpoint], signal));
    const readings = second ? [first, second] : [first];
    const finals = readings.map(({ finalised }) => finalised);
    return {
      claims: united(readings),
      finalised: finals.reduce((lowest, one) => (one < lowest ? one : lowest)),
      isComplete: isAlone || readings.length === 2,
    };
  }

  private readBy(
    { vault, from }: Span,
    avoid: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Reading> {
    return this.pool.run(
      async (session) => {
        const heads = await readHeads(session, this.finality);
        const latest = refOf(heads.latest.header);
        const finalised = heads.finalised.header.number;
        // Blocks that are not final are read each time, however far ahead the cursor is.
        const first = from === undefined || from > finalised ? finalised + 1n : from;
        const span = { from: first, head: latest };
        const events = await this.readerOf(vault).read(session, span);
        const claims = events.filter((event) => event.kind === 'claimed');
        return { endpoint: session.endpoint, latest, finalised, claims };
      },
      { avoid, patienceMs: avoid.length === 0 ? undefined : 0, signal },
    );
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

function united(readings: readonly Reading[]): ShownClaim[] {
  const events = new Map<string, ClaimedEvent>();
  for (const { claims } of readings) {
    for (const event of claims) events.set(keyOf(event), event);
  }
  const shown = readings.map(({ claims }) => new Set(claims.map(keyOf)));
  return [...events].map(([key, event]) => ({
    event,
    shownBy: readings.flatMap(({ endpoint }, at) => (shown[at]?.has(key) ? [endpoint] : [])),
    missedBy: readings.flatMap(({ endpoint, latest }, at) =>
      !shown[at]?.has(key) && latest.number >= event.block.number ? [endpoint] : [],
    ),
  }));
}
