import { Injectable, type OnModuleInit } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Database } from '#libs/db';
import { adoptRedemptions, CONSEQUENCES, redemptionsWithoutMac } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import {
  type Actors,
  ApprovalService,
  type ActionOutcome,
  UNBOUNDED,
} from '../../approvals/approval.service.js';
import { type ConsoleOperator } from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { AdoptDto } from './redemption.requests.js';

export const ADOPT = 'redemption adopt';

/**
 * Adoption of redemptions without a MAC. Needs a second operator wherever APPROVAL_ABOVE_USD is set: the worth in a row
 * without a MAC cannot be trusted as a bound.
 */
@Injectable()
export class AdoptionActions implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
    private readonly approvals: ApprovalService,
  ) {}

  onModuleInit(): void {
    this.approvals.register({
      ...{ name: ADOPT, role: 'admin' },
      execute: async (given, actors) =>
        `Adopted: ${await this.adopt(given, actors)}. Redemptions that have changed since they were shown, or whose wallet has no holder, stay as they were.`,
    });
  }

  /** @throws HttpProblem 400, 409, 503 */
  async perform(
    operator: ConsoleOperator,
    { redemptions, reason }: AdoptDto,
  ): Promise<ActionOutcome> {
    this.keys.seal(ADOPT);
    await this.approvals.requireNoOpenRequest((open) => open.action === ADOPT);
    return this.approvals.perform(operator, {
      action: ADOPT,
      arguments: { redemptions: redemptions.map(({ id, version }) => ({ id, version })) },
      summary: `Redemptions without a MAC: ${redemptions.length}. ${CONSEQUENCES[ADOPT]}`,
      ...{ worthUsd: UNBOUNDED, reason },
    });
  }

  /** Adopts the redemptions that are still at the version that the operator saw. @returns how many were adopted */
  private async adopt(given: Readonly<Record<string, unknown>>, actors: Actors): Promise<number> {
    const dto = plainToInstance(AdoptDto, given);
    if (validateSync(dto).length > 0) {
      throw new HttpProblem(409, 'The stored request is not of the form that this console writes.');
    }
    const seal = this.keys.seal(ADOPT);
    const seen = new Map(dto.redemptions.map(({ id, version }) => [id, version]));
    const foreign = await redemptionsWithoutMac(this.database, seal);
    const asSeen = foreign.filter(({ redemption: { id, version } }) => seen.get(id) === version);
    return adoptRedemptions(this.database, seal, asSeen, actors);
  }
}
