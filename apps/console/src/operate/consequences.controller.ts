import { Controller, Get } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Answers, Field, Operation } from '#libs/openapi';
import { consequences } from '#libs/operations';
import { ApprovalService } from '../approvals/approval.service.js';
import { ForOperators } from '../auth/audience.js';

@ApiSchema({ name: 'Consequences' })
export class ConsequencesBody {
  @Field.TextByName('By the command that does the same.')
  readonly consequences!: Readonly<Record<string, string>>;
  @Field.TextOrNull('From this worth in USD on a second operator decides; null: none does.')
  readonly approvalAboveUsd!: string | null;
}

/** The consequences that operators read before they confirm an action; the command line has the same texts. */
@Controller('api/operate/consequences')
@ForOperators('viewer')
export class ConsequencesController {
  constructor(private readonly approvals: ApprovalService) {}

  @Get()
  @Operation('What actions lead to', 'Those on one redemption say it with the redemption.')
  @Answers(200, 'The texts.', ConsequencesBody)
  list(): ConsequencesBody {
    return {
      consequences: consequences(),
      approvalAboveUsd: this.approvals.aboveUsd ?? null,
    };
  }
}
