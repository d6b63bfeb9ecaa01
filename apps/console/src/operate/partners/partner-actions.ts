import { Injectable, type OnModuleInit } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { parsePartnerId, type PartnerId } from '#libs/domain';
import {
  CallbackStore,
  Database,
  type PartnerIdentity,
  PartnerStore,
  PartnerUnknownError,
} from '#libs/db';
import {
  auditedChange,
  type CallbackChange,
  CONSEQUENCES,
  mergeCallback,
  onlyCutsBudget,
  partnerLabel,
  pausePartner,
  setPartner,
  setsCallback,
} from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { SEALED } from '../../approvals/approval.dto.js';
import {
  type Actors,
  ApprovalService,
  type ActionOutcome,
  UNBOUNDED,
} from '../../approvals/approval.service.js';
import { type ConsoleOperator } from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { callbackChange } from './partner-change.js';
import { PartnerChangeDto } from './partner.requests.js';

const SET = 'partner set';
const RESUME = 'partner resume';
/**
 * Marks a change that needs no second operator because it only lowers the daily budget. `setPartner` checks this again.
 */
const BUDGET_CUT_ONLY = 'onlyCutsBudget';

/** The name that the partner has when the action is asked for. Shown beside the name of now, and obeyed nowhere. */
const NAME_ASKED = 'partnerName';

type Stored = Readonly<Record<string, unknown>>;

/**
 * Actions that can let tokens out through a partner: setting its callback, with value, limits and budget, and ending a
 * pause.
 * Their worth has no upper bound, so they need a second operator wherever APPROVAL_ABOVE_USD is set. Changes of rate,
 * burst or stake set alone let no tokens out. A lower budget lets fewer out, and must take effect at once.
 */
@Injectable()
export class PartnerActions implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly partners: PartnerStore,
    private readonly callbacks: CallbackStore,
    private readonly keys: OperateKeys,
    private readonly approvals: ApprovalService,
  ) {}

  onModuleInit(): void {
    this.approvals.register({
      ...{ name: SET, role: 'admin' },
      execute: (given, actors) => this.set(given, actors),
    });
    this.approvals.register({
      ...{ name: RESUME, role: 'operator' },
      execute: (given, actors) => this.resume(given, actors),
    });
  }

  /** @throws HttpProblem 400, 409, 503; PartnerUnknownError, OptionError, UnknownStakeSetError */
  async performSet(
    operator: ConsoleOperator,
    partner: PartnerId,
    { reason, ...dto }: PartnerChangeDto,
  ): Promise<ActionOutcome> {
    const keyRing = this.keys.keyRing(`${SET} ${partner}`);
    const change = callbackChange(dto.callback);
    const stored = this.sealArguments(partner, dto);
    const worthUsd = setsCallback(change) ? UNBOUNDED : undefined;
    if (!this.approvals.needsSecond(worthUsd)) {
      return this.approvals.perform(operator, {
        action: SET,
        arguments: stored,
        summary: SET,
      });
    }
    const who = await this.identityOf(partner);
    const before = await this.callbacks.find(partner);
    if (onlyCutsBudget(before, change)) {
      const cut = { ...stored, [BUDGET_CUT_ONLY]: true };
      return this.approvals.perform(operator, { action: SET, arguments: cut, summary: SET });
    }
    // Checks the change before an approval is asked for, so that the asking operator learns of a refusal at once.
    mergeCallback(before, { change, keyRing, partnerName: who.partnerName });
    await this.requireNoOpenRequest(SET, partner);
    const { rate, burst, stakeSet } = dto;
    const shown = JSON.stringify({ rate, burst, stakeSet, ...auditedChange(change) });
    return this.approvals.perform(operator, {
      ...{ action: SET, arguments: { ...stored, [NAME_ASKED]: who.partnerName } },
      summary: `${partnerLabel(who)}: ${shown} ${CONSEQUENCES[SET]}`,
      ...{ worthUsd, reason },
    });
  }

  /** @throws HttpProblem 400, 409; PartnerUnknownError, PartnerMissingError */
  async performResume(
    operator: ConsoleOperator,
    partner: PartnerId,
    reason: string | undefined,
  ): Promise<ActionOutcome> {
    if (!this.approvals.needsSecond(UNBOUNDED)) {
      const wanted = { action: RESUME, arguments: { partner }, summary: RESUME };
      return this.approvals.perform(operator, wanted);
    }
    const who = await this.identityOf(partner);
    await this.requireNoOpenRequest(RESUME, partner);
    return this.approvals.perform(operator, {
      action: RESUME,
      arguments: { partner, [NAME_ASKED]: who.partnerName },
      summary: `${partnerLabel(who)}: ${CONSEQUENCES[RESUME]}`,
      ...{ worthUsd: UNBOUNDED, reason },
    });
  }

  /**
   * Refuses to create a partner with a callback where the callback needs a second operator. The partner is created at
   * once, and its callback is set afterwards.
   * @throws HttpProblem 409 APPROVAL_NEEDED
   */
  requireSetLater(callback: CallbackChange): void {
    if (!setsCallback(callback) || !this.approvals.needsSecond(UNBOUNDED)) return;
    throw new HttpProblem(
      409,
      'A callback needs a second operator: create the partner without one, then set it.',
      { code: 'APPROVAL_NEEDED' },
    );
  }

  private async set(stored: Stored, actors: Actors): Promise<string> {
    const { partner, dto } = this.openArguments(stored);
    const { rate, burst, stakeSet, callback } = dto;
    const terms = { partner, rate, burst, stakeSet };
    const mustOnlyCutBudget = stored[BUDGET_CUT_ONLY] === true;
    const change = { ...terms, callback: callbackChange(callback), mustOnlyCutBudget };
    const operator = { ...actors, command: SET };
    const keyRing = this.keys.keyRing(`${SET} ${partner}`);
    const changed = await setPartner(this.database, operator, change, keyRing);
    return `${partnerLabel(changed)}, is set.`;
  }

  private async resume({ partner }: Stored, actors: Actors): Promise<string> {
    const operator = { ...actors, command: RESUME };
    const who = await pausePartner(this.database, operator, storedId(partner), false);
    return `${partnerLabel(who)}, takes redemptions again.`;
  }

  /**
   * The arguments as the request stores them. Key and secret are sealed for the console that carries out the change.
   */
  private sealArguments(partner: PartnerId, dto: Omit<PartnerChangeDto, 'reason'>): Stored {
    const { callback: { key, secret, ...callback } = {}, ...terms } = dto;
    const secrets = JSON.stringify({ key, secret });
    const keyRing = this.keys.keyRing(`${SET} ${partner}`);
    return {
      ...{ partner, ...terms, callback },
      ...(key !== undefined && { newKey: true }),
      ...(secret !== undefined && { newSecret: true }),
      ...(secrets !== '{}' && {
        [SEALED]: keyRing.seal(secrets, contextOf(partner)).toString('base64'),
      }),
    };
  }

  /** Opens arguments that `sealArguments` made, and validates them again. @throws HttpProblem 409, PermanentError */
  private openArguments({ partner, rate, burst, stakeSet, callback, [SEALED]: sealed }: Stored) {
    const id = storedId(partner);
    const keyRing = this.keys.keyRing(`${SET} ${id}`);
    const secrets =
      typeof sealed === 'string'
        ? (JSON.parse(keyRing.open(Buffer.from(sealed, 'base64'), contextOf(id))) as object)
        : {};
    const plain = { rate, burst, stakeSet, callback: { ...(callback as object), ...secrets } };
    const dto = plainToInstance(PartnerChangeDto, plain);
    if (validateSync(dto).length > 0) {
      throw unlikeOurs();
    }
    return { partner: id, dto };
  }

  /** @throws PartnerUnknownError */
  private async identityOf(partner: PartnerId): Promise<PartnerIdentity> {
    const found = await this.partners.identify(partner);
    if (found === undefined) throw new PartnerUnknownError();
    return found;
  }

  private requireNoOpenRequest(action: string, partner: PartnerId): Promise<void> {
    return this.approvals.requireNoOpenRequest(
      (open) => open.action === action && open.arguments['partner'] === partner,
    );
  }
}

/** The id of the partner in the stored arguments of a request. @throws HttpProblem 409 */
function storedId(partner: unknown): PartnerId {
  const id = typeof partner === 'string' ? parsePartnerId(partner) : undefined;
  if (id === undefined) throw unlikeOurs();
  return id;
}

function unlikeOurs(): HttpProblem {
  return new HttpProblem(409, 'The stored request is not of the form that this console writes.');
}

/** Context of the seal, which binds the secrets to the partner of the request. */
function contextOf(partner: PartnerId): Uint8Array {
  return Buffer.from(`approval of ${SET}: ${partner}`);
}
