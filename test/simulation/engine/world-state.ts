/** What the parts of one simulated world share. */
import { type PartnerId } from '#libs/domain';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { type Choices, DeviationError, type Scheduler } from '../kernel/index.js';
import { SimulatedChain } from './chain.js';
import { MemoryLedger, MemoryRedemptionStore } from './ledger/index.js';
import { SimulatedNode } from './node.js';
import { SimulatedPartner } from './partner.js';
import { type WorldPlan, worldPlan } from './plan.js';

export const EVIDENCE = EvidenceKeys.parse(Buffer.alloc(32, 0xe5).toString('base64'));
export const KEY_RING = KeyRing.parse(Buffer.alloc(32, 7).toString('base64'));

export class WorldState {
  readonly plan: WorldPlan;
  readonly ledger: MemoryLedger;
  /** The ledger's redemptions, without a seam, as the service with its keys reads them. */
  readonly redemptions: MemoryRedemptionStore;
  readonly chain: SimulatedChain;
  readonly nodes: readonly SimulatedNode[];
  /** By the service's id. */
  readonly partners: ReadonlyMap<string, SimulatedPartner>;
  /** Redemptions that the service did not write. */
  readonly forged = new Set<string>();
  /** Nothing goes wrong any more. */
  isCalm = false;
  /** The ledger has gone back to a backup. */
  hasRestored = false;
  private deviation: DeviationError | undefined;

  constructor(
    readonly choices: Choices,
    readonly scheduler: Scheduler,
  ) {
    this.plan = worldPlan(choices);
    const { funds, hasProvableHeaders, nodes, partners, clocks } = this.plan;
    this.ledger = new MemoryLedger({ nowMs: () => scheduler.nowMs() + clocks.databaseMs });
    this.redemptions = new MemoryRedemptionStore(this.ledger, EVIDENCE);
    const nowSeconds = () => Math.floor((scheduler.nowMs() + clocks.chainMs) / 1000);
    this.chain = new SimulatedChain({ nowSeconds, funds, hasProvableHeaders });
    this.nodes = ['a', 'b'].slice(0, nodes).map((name) => new SimulatedNode(name, this.chain));
    const around = {
      nowMs: () => scheduler.nowMs(),
      later: (ms: number, what: () => void) => void setTimeout(what, ms),
      note: (what: string) => {
        scheduler.note(what);
      },
    };
    this.partners = new Map(
      partners.map((plan, index) => {
        const id = `00000000-0000-4000-8000-00000000000${index}` as PartnerId;
        return [id, new SimulatedPartner(id, plan, choices, around)];
      }),
    );
  }

  /** Whether nodes and ledger let no worker wait, so that each work is done within its lease. */
  get isTimely(): boolean {
    const { isPunctual, rpcFaultsPerMille } = this.plan;
    return isPunctual && rpcFaultsPerMille === 0 && !this.hasRestored;
  }

  /** Ends the run after this step. */
  deviate(kind: string, detail: string): void {
    this.deviation ??= new DeviationError(kind, detail);
  }

  /** @throws DeviationError */
  requireNoDeviation(): void {
    if (this.deviation !== undefined) throw this.deviation;
  }
}
