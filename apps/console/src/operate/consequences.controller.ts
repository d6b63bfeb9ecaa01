import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Answers, FailsAnywhere } from '#libs/openapi';
import { CONSEQUENCES, REMOVE_MEMBER_CONSEQUENCE } from '#libs/operations';
import { ForOperators } from '../auth/audience.js';

@ApiSchema({ name: 'Consequences' })
export class ConsequencesBody {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'By the command that does the same.',
  })
  readonly consequences!: Readonly<Record<string, string>>;
}

/** What operators are told before they do something: the words of the command line. */
@Controller('api/operate/consequences')
@ForOperators('viewer')
@FailsAnywhere()
export class ConsequencesController {
  @Get()
  @ApiOperation({
    summary: 'What actions lead to',
    description: 'Those on one redemption say it with the redemption.',
  })
  @Answers(200, 'The texts.', ConsequencesBody)
  list(): ConsequencesBody {
    return {
      consequences: { ...CONSEQUENCES, 'partner remove-member': REMOVE_MEMBER_CONSEQUENCE },
    };
  }
}
