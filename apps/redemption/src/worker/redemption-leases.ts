import { type RedemptionStore, type StoredRedemption } from '#libs/db';
import { type PartnerPolicy } from '#libs/domain';
import { type PartnerDirectory, type PartnerEntry } from '../partner/partner-directory.js';
import { type EngineContext } from './engine.js';
import { type Work } from './transition-writer.js';

/** What is assumed of a partner that cannot be looked up: nothing that proves anything, and that it is owed its confirmation. */
const UNKNOWN_PARTNER: PartnerPolicy = { capabilities: [], confirms: true };

/** The redemptions that are due, leased and with their partners, for the two queues of them. */
export class RedemptionLeases {
  constructor(
    private readonly store: RedemptionStore,
    private readonly directory: PartnerDirectory,
    private readonly context: EngineContext,
  ) {}

  /** Of a row that cannot be read a person is told; the others are leased. */
  lease(count: number, owner: string, authorised: boolean): Promise<readonly StoredRedemption[]> {
    const { clock, alerts, settings } = this.context;
    const { leaseMs } = settings;
    return this.store.lease({
      ...{ count, owner, leaseMs, dueByMs: clock.nowMs(), authorised },
      onUnreadable: ({ redemptionId, fault }) => {
        alerts.raise({
          severity: 'critical',
          code: 'redemption-unreadable',
          redemptionId,
          detail: `its row cannot be read (${fault}): no program of ours has written it so, and nothing is done with it`,
        });
      },
    });
  }

  async renew({ stored, owner }: Work): Promise<void> {
    await this.store.renew(stored.redemption.id, owner, this.context.settings.leaseMs);
  }

  /** @returns without a partner where it is not there to be called */
  async workOn(
    stored: StoredRedemption,
    owner: string,
  ): Promise<{ readonly work: Work; readonly partner: PartnerEntry | undefined }> {
    const partner = await this.directory.find(stored.redemption.partner);
    return { work: { stored, owner, policy: partner?.policy ?? UNKNOWN_PARTNER }, partner };
  }
}
