import { ApiSchema } from '@nestjs/swagger';
import * as Field from '../http/fields.js';
import { approvalBody, ApprovalBody } from './approval.dto.js';
import { type Performed } from './approval.service.js';

@ApiSchema({ name: 'ActionResult' })
export class ActionResultBody {
  @Field.Flag('False: it waits for a second operator.') readonly done!: boolean;
  @Field.TextOrNull('What came of it.') readonly outcome!: string | null;
  @Field.NestedOrNull(ApprovalBody) readonly approval!: ApprovalBody | null;
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
