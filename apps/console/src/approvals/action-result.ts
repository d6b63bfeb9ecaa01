import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { approvalBody, ApprovalBody } from './approval.dto.js';
import { type Performed } from './approval.service.js';

@ApiSchema({ name: 'ActionResult' })
export class ActionResultBody {
  @ApiProperty({ type: 'boolean', description: 'False: it waits for a second operator.' })
  readonly done!: boolean;

  @ApiProperty({ type: String, nullable: true, description: 'What came of it.' })
  readonly outcome!: string | null;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/Approval' }, { type: 'null' }] })
  readonly approval!: ApprovalBody | null;
}

/** @param subject of the operator who asked */
export function actionResult(
  performed: Performed,
  subject: string,
  nowMs: number,
): ActionResultBody {
  return performed.done
    ? { done: true, outcome: performed.outcome, approval: null }
    : { done: false, outcome: null, approval: approvalBody(performed.approval, subject, nowMs) };
}
