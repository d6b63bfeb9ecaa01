import { type EntityManager, In, type SelectQueryBuilder } from 'typeorm';
import {
  type Decimal,
  type PartnerCapability,
  type PartnerId,
  PermanentError,
  type RedemptionRate,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { CallbackEntity } from './callback.entity.js';
import {
  auditPartner,
  lockPartner,
  type PartnerAudit,
  type PartnerIdentity,
  type PartnerTerms,
  replaced,
  replacedTerms,
  setTerms,
} from './partner-changes.js';

/** How a partner is called, and the terms of its redemptions. */
export interface CallbackSettings extends RedemptionRate {
  readonly url: string;
  /** `X-API-KEY` of our calls to the partner. */
  readonly key: string;
  /** The signing secret, sealed. */
  readonly secretCiphertext: Buffer;
  readonly minPoints?: bigint | undefined;
  readonly maxPoints?: bigint | undefined;
  /** Whole tokens per UTC day; absent: no limit. */
  readonly dailyTokenBudget?: Decimal | undefined;
  /** Whether the partner has the confirmation endpoint. */
  readonly confirms: boolean;
  readonly capabilities: readonly PartnerCapability[];
}

export interface PartnerCallback extends CallbackSettings, PartnerIdentity {
  /** The kill switch: no new redemptions. */
  readonly paused: boolean;
}

/** What an audit row keeps of the settings before: all but key and secret. */
const AUDITED_NAMES = [
  ...(['url', 'usdPerPoint', 'bonus', 'minPoints', 'maxPoints'] as const),
  ...(['dailyTokenBudget', 'confirms', 'capabilities'] as const),
] satisfies (keyof CallbackSettings)[];

/** Changes that are written in the transaction of the callback. */
export interface WithCallback {
  /** Absent terms stay as they are. */
  readonly terms?: Partial<PartnerTerms> | undefined;
  readonly audit?: PartnerAudit | undefined;
}

export interface ChangedCallback {
  readonly callback: PartnerCallback;
  /** Absent where no terms were given. */
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

/** Callbacks as operators set them, by cli or console. */
export class CallbackStore {
  constructor(private readonly database: Database) {}

  /**
   * Sets what `merge` makes of the present settings (undefined if there are none), but not `paused`. Holds the partner's lock, so that
   * of two concurrent changes neither undoes the other.
   * @throws PartnerUnknownError, DatabaseRefusedError, or what `merge` throws. Nothing is written in these cases.
   */
  change(
    partnerId: PartnerId,
    merge: (before: PartnerCallback | undefined, who: PartnerIdentity) => CallbackSettings,
    { terms, audit }: WithCallback = {},
  ): Promise<ChangedCallback> {
    return this.database.entityTransaction(async (manager) => {
      const who = await lockPartner(manager, partnerId);
      const before = await findCallback(manager, who.partnerId);
      await setCallback(manager, who.partnerId, merge(before, who));
      const set = terms && (await setTerms(manager, who.partnerId, terms));
      const callback = await findCallback(manager, who.partnerId);
      if (callback === undefined) throw new PartnerMissingError();
      await auditPartner(manager, who.partnerId, audit, {
        ...(set && replacedTerms(who, set)),
        ...(before && replaced<CallbackSettings>(before, callback, AUDITED_NAMES)),
      });
      return { callback, terms: set };
    });
  }

  /** @throws PartnerMissingError */
  async pause(partnerId: PartnerId, paused: boolean, audit?: PartnerAudit): Promise<void> {
    await this.database.entityTransaction(async (manager) => {
      const change = { paused, updatedAt: () => 'now()' };
      const { affected } = await manager.update(CallbackEntity, partnerId, change);
      if (affected !== 1) throw new PartnerMissingError();
      await auditPartner(manager, partnerId, audit);
    });
  }

  async find(partnerId: PartnerId): Promise<PartnerCallback | undefined> {
    return this.database.entities((manager) => findCallback(manager, partnerId));
  }

  /** The callbacks of these partners, by partner id. Partners without a callback are left out. */
  async findAll(partnerIds: readonly PartnerId[]): Promise<Map<PartnerId, PartnerCallback>> {
    const found = await this.database.entities((manager) =>
      callbacks(manager)
        .where({ partnerId: In([...partnerIds]) })
        .getMany(),
    );
    return new Map(found.map((entity) => [entity.partnerId, callbackOf(entity)]));
  }

  /** The partners with a callback, paused ones included, ordered by name. */
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
  partnerId: PartnerId,
): Promise<PartnerCallback | undefined> {
  const found = await callbacks(manager).where({ partnerId }).getOne();
  return found ? callbackOf(found) : undefined;
}

export async function setCallback(
  manager: EntityManager,
  partnerId: PartnerId,
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
