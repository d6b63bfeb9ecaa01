import { Injectable, type OnModuleInit } from '@nestjs/common';
import { parseDecimal } from '#libs/domain';
import { acceptPrice } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import {
  type Actors,
  type ActionOutcome,
  ApprovalService,
  UNBOUNDED,
} from '../../approvals/approval.service.js';
import { type ConsoleOperator } from '../../auth/audience.js';
import { StakeSets } from '../stake-sets.js';
import { type AcceptPriceDto } from './overview.dto.js';

const ACCEPT = 'price accept';

/**
 * Acceptance of held prices. Needs a second operator wherever APPROVAL_ABOVE_USD is set: all redemptions are paid by the
 * price.
 */
@Injectable()
export class PriceActions implements OnModuleInit {
  constructor(
    private readonly sets: StakeSets,
    private readonly approvals: ApprovalService,
  ) {}

  onModuleInit(): void {
    this.approvals.register({
      ...{ name: ACCEPT, role: 'operator' },
      execute: (given, actors) => this.accept(given, actors),
    });
  }

  /** @throws HttpProblem 400, 404, 409; PriceNotHeldError, PriceMovedError */
  async perform(
    operator: ConsoleOperator,
    { usd, stakeSet, reason }: AcceptPriceDto,
  ): Promise<ActionOutcome> {
    await this.sets.open(stakeSet);
    await this.approvals.requireNoOpenRequest((open) => open.action === ACCEPT);
    return this.approvals.perform(operator, {
      action: ACCEPT,
      arguments: { usd, stakeSet },
      summary: `One token of stake set ${stakeSet} costs ${usd} USD: redemptions go on with the next reading near this price.`,
      ...{ worthUsd: UNBOUNDED, reason },
    });
  }

  private async accept(
    { usd, stakeSet }: Readonly<Record<string, unknown>>,
    { actor, approvedBy }: Actors,
  ): Promise<string> {
    if (typeof usd !== 'string' || typeof stakeSet !== 'string') {
      throw new HttpProblem(409, 'The stored request is not of the form that this console writes.');
    }
    const operator = { actor, command: ACCEPT, approvedBy };
    await acceptPrice(await this.sets.open(stakeSet), operator, {
      usd: parseDecimal(usd),
      stakeSet,
    });
    return `Accepted ${usd} USD. Redemptions go on with the next reading near it, within a minute.`;
  }
}
