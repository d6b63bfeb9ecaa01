import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Nonce' })
export class NonceBody {
  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Good once.' })
  readonly nonce!: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly expiresAt!: string;
}
