import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type Address } from '#libs/domain';
import { MessageField, SignatureField } from '#libs/sign-in';
import { ADDRESS, TIME } from '../http/schema.js';

export class SignedMessage {
  @MessageField() readonly message!: string;

  @SignatureField(/^0x(?:[0-9a-fA-F]{2})*$/, '0x and hex digits') readonly signature!: string;
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
