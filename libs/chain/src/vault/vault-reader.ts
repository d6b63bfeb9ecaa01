/** Reads what became of authorised payouts, from final blocks only. */
import { toFunctionSelector } from 'viem/utils';
import {
  type Address,
  type BlockRef,
  type Doubt,
  type PayoutEvidence,
  payoutEvidence,
  type PayoutTerms,
  type VaultSighting,
  type VaultStatus,
} from '#libs/domain';
import {
  AllEndpointsFailedError,
  EndpointsDisagreeError,
  MalformedAnswerError,
  StateUnavailableError,
} from '../rpc/rpc.errors.js';
import { questionTo, Quorum } from '../quorum/quorum.js';
import { FinalBlocks, type FinalBlockStatement, parseFinality } from '../reader/final-blocks.js';
import { CALLS_AT_ONCE, PinnedCalls } from '../calls/pinned-calls.js';
import { OUTAGE_PATIENCE_MS, ownProvider } from '../rpc/endpoint-urls.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import {
  mergeEvents,
  splitEvents,
  type VaultEvent,
  type VaultId,
  vaultIdOf,
} from './vault-event.js';
import { VaultLogReader, type VaultSpan } from './vault-log-reader.js';

export interface VaultReaderOptions {
  /** The vault that the vouchers name. A vault of another deployment needs a reader of its own. */
  readonly vault: Address;
  readonly token: Address;
  /** FINALITY: `finalized` (default), `safe` or `depth:<blocks>`. */
  readonly finality?: string;
  /** Our clock, which final blocks and deadlines are compared with; default: the pool's. */
  readonly clock?: { nowMs(): number };
  /**
   * With a single endpoint: seconds after its deadline, by our clock, before which a payout does not count as expired.
   * Default 0.
   */
  readonly marginSeconds?: number;
}

export interface WatchedPayout extends PayoutTerms {
  /** UUIDv7. */
  readonly redemptionId: string;
  /**
   * First block of the search for events: the newest block that was final before the voucher was signed, or an older
   * one. Too high a number shows as a contradiction, never as false evidence.
   */
  readonly fromBlock: bigint;
}

interface Watch extends WatchedPayout {
  readonly vaultId: VaultId;
}

/** The statement of one endpoint about some payouts, up to its own final block. */
interface Look {
  readonly word: FinalBlockStatement;
  /** In the order of the payouts. */
  readonly sightings: readonly VaultSighting[];
}

/** In the order of the contract's `Status`. */
const STATUSES: readonly VaultStatus[] = ['none', 'claimed', 'cancelled'];
const TOKEN = toFunctionSelector('token()');
const STATUS = toFunctionSelector('status(bytes32)');
/** Ids in one filter of eth_getLogs. */
const WATCHED_AT_ONCE = 50;
/** Seconds after a deadline, by our clock, from which on a second endpoint is asked about a payout that looks open. */
const OVERDUE_SECONDS = 1800;

export class VaultReader {
  private readonly finals: FinalBlocks;
  private readonly calls = new PinnedCalls();
  private readonly logs: VaultLogReader;
  private readonly marginSeconds: number;

  /** @throws PermanentError where FINALITY is wrong */
  constructor(
    private readonly pool: RpcPool,
    private readonly options: VaultReaderOptions,
  ) {
    const { finality = 'finalized', vault, clock = pool, marginSeconds = 0 } = options;
    this.finals = new FinalBlocks(pool, parseFinality(finality), clock);
    this.logs = new VaultLogReader(vault);
    this.marginSeconds = this.finals.witnesses < 2 ? marginSeconds : 0;
  }

  /**
   * The newest block that two endpoints hold final; a new payout plan stores its number as `fromBlock`.
   * @see FinalBlocks.newest
   * @throws EndpointsDisagreeError, AllEndpointsFailedError
   */
  finalised(): Promise<BlockRef> {
    return this.finals.newest();
  }

  /**
   * The statuses in the order of the ids, at the end of exactly this block.
   * @throws AllEndpointsFailedError, ExecutionRevertedError
   */
  statuses(ids: readonly VaultId[], block: BlockRef): Promise<VaultStatus[]> {
    return this.pool.run((session) => this.statusesBy(session, ids, block));
  }

  /** The claims and cancellations of the blocks from `from` up to the final block `head`, in the order of the chain. */
  events(span: VaultSpan): Promise<VaultEvent[]> {
    return this.pool.run((session) => this.logs.read(session, span));
  }

  /**
   * As `events`, from two providers if there are two. An event that one leaves out comes from the other, and an event in
   * a receipt needs no confirmation. A second provider that cannot be asked now is left out.
   */
  async witnessedEvents(span: VaultSpan, signal?: AbortSignal): Promise<VaultEvent[]> {
    const [{ value: events }, second] = await new Quorum(this.pool.endpoints).two(
      questionTo(this.pool, (session) => this.logs.read(session, span), signal),
      { mayFail: true },
    );
    return second ? mergeEvents(events, second.value) : events;
  }

  /**
   * The evidence about each payout at the newest final block, in the order of the payouts. A doubt says what does not
   * fit together. It deserves an alert, and asking again costs nothing. Doubts about the final blocks themselves also
   * go to the pool's observer, with the codes of FINAL_BLOCK_CODES.
   * @throws PermanentError where an id is not a UUIDv7
   * @throws AllEndpointsFailedError where no node can be asked now; ExecutionRevertedError where VAULT_CONTRACT is no
   * vault
   */
  async observe(payouts: readonly WatchedPayout[]): Promise<PayoutEvidence[]> {
    if (payouts.length === 0) return [];
    const watches = payouts.map((payout) => ({
      ...payout,
      vaultId: vaultIdOf(payout.redemptionId),
    }));
    const evidence = new Map<Watch, PayoutEvidence>();
    // Payouts of about the same age share a search, which is as long as that of the oldest.
    const byAge = [...watches].sort((a, b) => Number(a.fromBlock - b.fromBlock));
    for (let at = 0; at < byAge.length; at += WATCHED_AT_ONCE) {
      const part = byAge.slice(at, at + WATCHED_AT_ONCE);
      const found = await this.observePart(part);
      for (const [index, watch] of part.entries()) {
        evidence.set(watch, found[index] ?? { outcome: 'live' });
      }
    }
    return watches.map((watch) => evidence.get(watch) ?? { outcome: 'live' });
  }

  /**
   * One endpoint looks at all payouts. A second endpoint looks at those that have ended by its statement, or should
   * have ended by now.
   */
  private async observePart(watches: readonly Watch[]): Promise<PayoutEvidence[]> {
    const { nowSeconds, witnesses } = this.finals;
    const rules = { witnesses, nowSeconds, marginSeconds: this.marginSeconds };
    const judge = (watch: Watch, ...sightings: (VaultSighting | undefined)[]) =>
      payoutEvidence(
        watch,
        sightings.filter((sighting) => sighting !== undefined),
        rules,
      );
    const heard: FinalBlockStatement[] = [];
    const first = await this.look(watches, { heard });
    const evidence = watches.map((watch, index) => judge(watch, first.sightings[index]));
    if (witnesses < 2) return evidence;
    const unsettled = watches.flatMap((watch, index) => {
      const needs = needsAnother(evidence[index], nowSeconds - watch.deadlineSeconds);
      return needs ? [{ watch, index }] : [];
    });
    if (unsettled.length === 0) return evidence;
    const second = await this.confirm(
      unsettled.map(({ watch }) => watch),
      first.word,
      heard,
    );
    for (const [place, { watch, index }] of unsettled.entries()) {
      if ('doubt' in second) evidence[index] = { outcome: 'live', doubt: second.doubt };
      else evidence[index] = judge(watch, first.sightings[index], second.sightings[place]);
    }
    return evidence;
  }

  /**
   * What a second endpoint sees, after both agree on the lower of their final blocks.
   * @param heard final blocks of all endpoints that were asked, also of those that failed afterwards
   * @returns no sightings where no second endpoint can be asked now, and the doubt where the two disagree
   */
  private async confirm(
    watches: readonly Watch[],
    first: FinalBlockStatement,
    heard: readonly FinalBlockStatement[],
  ): Promise<Omit<Look, 'word'> | { readonly doubt: Doubt }> {
    try {
      const others = heard.filter(({ witness }) => witness !== first.witness);
      for (const word of others) await this.finals.requireAgreement(word, first);
      return await this.look(watches, { other: first });
    } catch (error) {
      if (error instanceof EndpointsDisagreeError) {
        return { doubt: { kind: 'disagreement', text: error.message } };
      }
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      return { sightings: [] };
    }
  }

  /**
   * Reads the final block, and the statuses and events of all payouts, from one and the same endpoint.
   * @param other the final block of the endpoint that has looked already; compared before anything else is asked
   * @param heard receives the final block of each endpoint that was asked
   */
  private look(
    watches: readonly Watch[],
    {
      other,
      heard,
    }: { readonly other?: FinalBlockStatement; readonly heard?: FinalBlockStatement[] },
  ): Promise<Look> {
    const ids = watches.map(({ vaultId }) => vaultId);
    return this.pool.run(
      async (session) => {
        const word = await this.finals.by(session);
        heard?.push(word);
        if (other) await this.finals.requireAgreement(other, word);
        const head = word.block;
        const from = watches.reduce(
          (lowest, { fromBlock }) => (fromBlock < lowest ? fromBlock : lowest),
          head.number + 1n,
        );
        const statuses = await this.statusesBy(session, ids, head);
        const events = await this.logs.read(session, { from, head, ids });
        const sightings = statuses.map((status, index) => {
          const own = events.filter(({ vaultId }) => vaultId === ids[index]);
          return { witness: session.endpoint, finalised: head, status, ...splitEvents(own) };
        });
        return { word, sightings };
      },
      other
        ? { avoid: ownProvider(other.witness, this.pool.endpoints), patienceMs: OUTAGE_PATIENCE_MS }
        : {},
    );
  }

  /**
   * With every batch of statuses the vault must report its token, because an address without a vault answers nothing,
   * which would look like NONE.
   * @throws NodeBehindError, StateUnavailableError, MalformedAnswerError, ExecutionRevertedError
   */
  private async statusesBy(
    session: RpcSession,
    ids: readonly VaultId[],
    block: BlockRef,
  ): Promise<VaultStatus[]> {
    const { vault, token } = this.options;
    const each = CALLS_AT_ONCE - 1;
    const statuses: VaultStatus[] = [];
    for (let at = 0; at < ids.length; at += each) {
      const some = ids.slice(at, at + each);
      const data = some.map((id) => `${STATUS}${id.slice(2)}`);
      const calls = [TOKEN, ...data].map((one) => ({ to: vault, data: one }));
      const [itsToken, ...words] = await this.calls.read(session, calls, block);
      if (itsToken !== BigInt(token)) {
        // The endpoint's state of this block does not change. Another endpoint may be asked, and this one is not asked
        // again.
        throw new StateUnavailableError(
          `knows no vault of token ${token} at ${vault} in block ${block.number.toString()}`,
          session,
        );
      }
      for (const word of words) {
        const status = STATUSES[Number(word)];
        if (!status) throw new MalformedAnswerError('a status that does not exist', session);
        statuses.push(status);
      }
    }
    return statuses;
  }
}

/**
 * Whether a second endpoint has to look. A payout that looks open needs a second look only where it should have ended
 * by now, because an endpoint may hold back its final block.
 */
function needsAnother(evidence: PayoutEvidence | undefined, sinceDeadlineSeconds: number): boolean {
  if (evidence?.outcome !== 'live') return true;
  return evidence.doubt?.kind === 'unconfirmed' || sinceDeadlineSeconds > OVERDUE_SECONDS;
}
