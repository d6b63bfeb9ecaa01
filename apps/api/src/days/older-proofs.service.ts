import { Worker } from 'node:worker_threads';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type Address, type DayLeaf, dayText, type NodeHash, type PartnerId } from '#libs/domain';
import { type Logger, messageOf, withTimeout } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { bytesToBuild, type SealedTree, type TreeProof } from './day-trees.js';
import {
  type Failure,
  type OlderProofsData,
  type OlderProofsQuestion,
  type OlderProofsReply,
} from './older-proofs.worker.js';

const MB = 1024 * 1024;
/** Longest wait of a request, in milliseconds. The build goes on, so that a later request finds the tree. */
const PATIENCE_MS = 2000;
/** Time without a request after which the thread ends and frees its memory. */
const IDLE_MS = 10 * 60_000;
const MAX_WAITING = 200;
const MAX_WAITING_OF_PARTNER = 50;
/** Estimated speed of a build, in wallets per second, for `Retry-After`: a million wallets take some 20 seconds. */
const WALLETS_A_SECOND = 50_000;
const MIN_RETRY_SECONDS = 2;
const DIFFERS_RETRY_SECONDS = 600;

type Outcome =
  TreeProof | { readonly kind: 'late' } | { readonly kind: 'failed'; readonly failure: Failure };

/** Proofs for days whose lists are no longer stored. A thread rebuilds the trees of these days: see DayTrees. */
@Injectable()
export class OlderProofs implements BeforeApplicationShutdown {
  private readonly maxBytes: number;
  private readonly waiting = new Map<
    number,
    { readonly partner: PartnerId; readonly resolve: (outcome: Outcome) => void }
  >();
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;

  constructor(
    private readonly settings: ApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.maxBytes = settings.olderProofsMb * MB;
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.idle);
    await this.worker?.terminate();
  }

  /**
   * @throws HttpProblem 410 (a tree of so many wallets exceeds the memory limit), 409 (the index no longer gives the
   * sealed root), 503 (the tree is not ready yet)
   */
  async prove(
    sealed: SealedTree,
    wallet: Address,
    partner: PartnerId,
  ): Promise<{ readonly leaf: DayLeaf; readonly proof: readonly NodeHash[] }> {
    const day = dayText(sealed.day);
    if (bytesToBuild(sealed) > this.maxBytes) {
      const message = `Proofs of ${day} are no longer kept; its root is.`;
      throw new HttpProblem(410, message, { code: 'PROOF_NOT_KEPT' });
    }
    const outcome = await this.ask(sealed, wallet, partner);
    if (outcome.kind === 'proof') return outcome;
    if (outcome.kind === 'differs') {
      this.logger.error(
        { day, root: sealed.root },
        'The index no longer gives the root of a sealed day: see docs/operating/sealed-days.md',
      );
      const message = `The index no longer gives the sealed root of ${day}: a new revision of the day is due. Its root stands until then.`;
      throw new HttpProblem(409, message, {
        code: 'DAY_REVISION_DUE',
        retryAfterSeconds: DIFFERS_RETRY_SECONDS,
      });
    }
    if (outcome.kind === 'failed') this.fail(outcome.failure, day);
    const message = `${day} is older than what proofs are kept of: its tree is worked out again${outcome.kind === 'busy' ? ' after that of another day' : ''}.`;
    const retryAfterSeconds = MIN_RETRY_SECONDS + Math.ceil(sealed.wallets / WALLETS_A_SECOND);
    throw new HttpProblem(503, message, { code: 'PROOF_NOT_READY', retryAfterSeconds });
  }

  private fail({ message, retryable }: Failure, day: string): void {
    // The exception filter logs the error and answers 500 without details.
    if (!retryable) throw new Error(message);
    this.logger.warn({ day, reason: message }, 'The tree of an older day could not be worked out');
  }

  private async ask(sealed: SealedTree, wallet: Address, partner: PartnerId): Promise<Outcome> {
    if (!this.hasRoom(partner)) return { kind: 'busy' };
    const id = (this.lastId += 1);
    const answered = new Promise<Outcome>((resolve) => this.waiting.set(id, { partner, resolve }));
    const question: OlderProofsQuestion = { id, sealed, wallet, partner };
    this.thread().postMessage(question);
    return withTimeout(PATIENCE_MS, answered, () => ({ kind: 'late' as const }));
  }

  private hasRoom(partner: PartnerId): boolean {
    const own = [...this.waiting.values()].filter((one) => one.partner === partner);
    return this.waiting.size < MAX_WAITING && own.length < MAX_WAITING_OF_PARTNER;
  }

  private thread(): Worker {
    clearTimeout(this.idle);
    return (this.worker ??= this.start());
  }

  private start(): Worker {
    const { databaseUrl: url, databaseDirectUrl } = this.settings;
    const isPooled = databaseDirectUrl !== undefined;
    const workerData: OlderProofsData = { url, isPooled, maxBytes: this.maxBytes };
    // The name in package.json resolves to the compiled file, even in a test that runs the TypeScript sources.
    const worker = new Worker(new URL(import.meta.resolve('#older-proofs-worker')), { workerData });
    let reason = 'The thread of older proofs ended';
    worker.on('message', (reply: OlderProofsReply) => {
      const { id, found, failure } = reply;
      this.settle(id, found ?? { kind: 'failed', failure });
      if (this.waiting.size === 0) this.endWhenIdle(worker);
    });
    worker.once('error', (error: unknown) => {
      reason = messageOf(error);
    });
    worker.once('exit', () => {
      if (this.worker === worker) this.worker = undefined;
      const failure = { message: reason, retryable: true };
      for (const id of [...this.waiting.keys()]) this.settle(id, { kind: 'failed', failure });
    });
    return worker;
  }

  private settle(id: number, outcome: Outcome): void {
    this.waiting.get(id)?.resolve(outcome);
    this.waiting.delete(id);
  }

  private endWhenIdle(worker: Worker): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void worker.terminate(), IDLE_MS).unref();
  }
}
