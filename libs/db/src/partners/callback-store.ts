import { type EntityManager, In, type SelectQueryBuilder } from 'typeorm';
import {
  type Decimal,
  type PartnerCapability,
  PermanentError,
  type RedemptionRate,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { isRefusal } from '../connection/database.error.js';
import { CallbackEntity } from './callback.entity.js';
import {
  auditPartner,
  lockPartner,
  type PartnerAudit,
  type PartnerIdentity,
  type PartnerTerms,
  setTerms,
} from './partner-changes.js';

/** How a partner is called and what may be redeemed with it. */
export interface CallbackSettings extends RedemptionRate {
  readonly url: string;
  /** `X-API-KEY` of our calls. */
  readonly key: string;
  /** Sealed. */
  readonly secretCiphertext: Buffer;
  readonly minPoints?: bigint | undefined;
  readonly maxPoints?: bigint | undefined;
  /** Whole tokens per UTC day; absent: not limited. */
  readonly dailyTokenBudget?: Decimal | undefined;
  /** Whether it has the confirmation endpoint. */
  readonly confirms: boolean;
  readonly capabilities: readonly PartnerCapability[];
}

export interface PartnerCallback extends CallbackSettings, PartnerIdentity {
  /** The kill switch: no new redemptions. */
  readonly paused: boolean;
}

/** What is written together with a callback, or not at all. */
export interface WithCallback {
  /** What is absent stays. */
  readonly terms?: Partial<PartnerTerms> | undefined;
  readonly audit?: PartnerAudit | undefined;
}

export interface ChangedCallback {
  readonly callback: PartnerCallback;
  /** Absent where none was given. */
  readonly terms?: PartnerTerms | undefined;
}

export class PartnerMissingError extends PermanentError {
  constructor() {
    super(
      'PARTNER_MISSING',
      'No callback is set for this partner; `partner set NAME --callback-url …` sets one.',
    );
  }
}

/** Written by the cli only. */
export class CallbackStore {
  constructor(private readonly database: Database) {}

  /** Sets all of it; whether it is paused stays. @throws PartnerMissingError, DatabaseRefusedError */
  async set(partnerId: string, settings: CallbackSettings): Promise<void> {
    try {
      await this.database.entities((manager) => setCallback(manager, partnerId, settings));
    } catch (error) {
      throw isRefusal(error, 'foreign_key_violation') ? new PartnerMissingError() : error;
    }
  }

  /**
   * Sets what `merge` makes of what is set now (undefined where nothing is), under the partner's lock: of two changes at once
   * neither undoes the other.
   * @param partner name or id
   * @throws PartnerUnknownError, DatabaseRefusedError, or what `merge` throws; nothing is written then
   */
  change(
    partner: string,
    merge: (before: PartnerCallback | undefined, who: PartnerIdentity) => CallbackSettings,
    { terms, audit }: WithCallback = {},
  ): Promise<ChangedCallback> {
    return this.database.transaction(async (client, manager) => {
      const who = await lockPartner(client, partner);
      const before = await findCallback(manager, who.partnerId);
      await setCallback(manager, who.partnerId, merge(before, who));
      const set = terms && (await setTerms(client, manager, who.partnerId, terms));
      await auditPartner(manager, who.partnerId, audit);
      const callback = await findCallback(manager, who.partnerId);
      if (callback === undefined) throw new PartnerMissingError();
      return { callback, terms: set };
    });
  }

  /** @throws PartnerMissingError */
  async pause(partnerId: string, paused: boolean, audit?: PartnerAudit): Promise<void> {
    await this.database.transaction(async (_client, manager) => {
      const change = { paused, updatedAt: () => 'now()' };
      const { affected } = await manager.update(CallbackEntity, partnerId, change);
      if (affected !== 1) throw new PartnerMissingError();
      await auditPartner(manager, partnerId, audit);
    });
  }

  async find(partnerId: string): Promise<PartnerCallback | undefined> {
    return this.database.entities((manager) => findCallback(manager, partnerId));
  }

  /** Of some partners, by id; those that have one. */
  async findAll(partnerIds: readonly string[]): Promise<Map<string, PartnerCallback>> {
    const found = await this.database.entities((manager) =>
      callbacks(manager)
        .where({ partnerId: In([...partnerIds]) })
        .getMany(),
    );
    return new Map(found.map((entity) => [entity.partnerId, callbackOf(entity)]));
  }

  /** In whatever capitals. */
  async findByName(name: string): Promise<PartnerCallback | undefined> {
    const found = await this.database.entities((manager) =>
      callbacks(manager).where('lower(partner.name) = lower(:name)', { name }).getOne(),
    );
    return found ? callbackOf(found) : undefined;
  }

  /** Partners that can be redeemed with, by name; the paused ones too. */
  async list(): Promise<PartnerCallback[]> {
    const all = await this.database.entities((manager) =>
      callbacks(manager).orderBy('lower(partner.name)').getMany(),
    );
    return all.map(callbackOf);
  }
}

function callbacks(manager: EntityManager): SelectQueryBuilder<CallbackEntity> {
  return manager
    .createQueryBuilder(CallbackEntity, 'callback')
    .innerJoinAndSelect('callback.partner', 'partner');
}

async function findCallback(
  manager: EntityManager,
  partnerId: string,
): Promise<PartnerCallback | undefined> {
  const found = await callbacks(manager).where({ partnerId }).getOne();
  return found ? callbackOf(found) : undefined;
}

export async function setCallback(
  manager: EntityManager,
  partnerId: string,
  { bonus, minPoints, maxPoints, dailyTokenBudget, capabilities, ...others }: CallbackSettings,
): Promise<void> {
  const { url, key, secretCiphertext, usdPerPoint, confirms } = others;
  const callback = {
    partnerId,
    url,
    key,
    secretCiphertext,
    usdPerPoint,
    confirms,
    bonusFromPoints: bonus?.fromPoints ?? null,
    bonusRate: bonus?.rate ?? null,
    minPoints: minPoints ?? null,
    maxPoints: maxPoints ?? null,
    dailyTokenBudget: dailyTokenBudget ?? null,
    capabilities: [...capabilities],
    updatedAt: () => 'now()',
  };
  await manager.upsert(CallbackEntity, callback, ['partnerId']);
}

function callbackOf(entity: CallbackEntity): PartnerCallback {
  const { partner, bonusFromPoints, bonusRate, ...settings } = entity;
  const hasBonus = bonusFromPoints !== null && bonusRate !== null;
  return {
    partnerId: settings.partnerId,
    partnerName: partner.name,
    url: settings.url,
    key: settings.key,
    secretCiphertext: settings.secretCiphertext,
    usdPerPoint: settings.usdPerPoint,
    ...(hasBonus && { bonus: { fromPoints: bonusFromPoints, rate: bonusRate } }),
    ...(settings.minPoints !== null && { minPoints: settings.minPoints }),
    ...(settings.maxPoints !== null && { maxPoints: settings.maxPoints }),
    ...(settings.dailyTokenBudget !== null && { dailyTokenBudget: settings.dailyTokenBudget }),
    confirms: settings.confirms,
    capabilities: settings.capabilities,
    paused: settings.paused,
  };
}
