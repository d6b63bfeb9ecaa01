import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { type Address } from '#libs/domain';
import { ADDRESS, TIME } from '../http/schema.js';

export class SignedMessage {
  @ApiProperty({
    type: 'string',
    description: 'An EIP-4361 message, exactly as it was signed.',
  })
  @IsString({ message: '$property must be a text.' })
  readonly message!: string;

  @ApiProperty({ type: 'string', pattern: '^0x(?:[0-9a-fA-F]{2})+$' })
  @Matches(/^0x(?:[0-9a-fA-F]{2})+$/, { message: '$property must be 0x and hex digits.' })
  @IsString({ message: '$property must be a text.' })
  readonly signature!: string;
}

@ApiSchema({ name: 'Session' })
export class SessionBody {
  @ApiProperty({
    type: 'string',
    pattern: '^svct_[A-Za-z0-9_-]{43}$',
    description: 'Shown once.',
  })
  readonly token!: string;

  @ApiProperty(ADDRESS)
  readonly wallet!: Address;

  @ApiProperty(TIME)
  readonly expiresAt!: string;
}
