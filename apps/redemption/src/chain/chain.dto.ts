import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ADDRESS } from '../http/schema.js';
import { REFUSAL_REASONS, type RefusalReason } from '../payout/payout-refusal.js';

@ApiSchema({ name: 'Token' })
export class TokenBody {
  @ApiProperty(ADDRESS)
  readonly address!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'As the contract says, up to 64 bytes; null while the chain does not answer.',
  })
  readonly symbol!: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 77,
    nullable: true,
    description: 'Null until the chain was reached.',
  })
  readonly decimals!: number | null;
}

@ApiSchema({ name: 'Payouts', description: 'Whether the vault could pay at this moment.' })
export class PayoutsBody {
  @ApiProperty({ type: 'boolean' })
  readonly available!: boolean;

  @ApiProperty({ type: 'string', enum: [...REFUSAL_REASONS, null], nullable: true })
  readonly reason!: RefusalReason | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The reason, for people.' })
  readonly message!: string | null;
}

@ApiSchema({ name: 'Chain' })
export class ChainBody {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty({ ...ADDRESS, description: 'Pays the vouchers.' })
  readonly vault!: string;

  @ApiProperty({ type: TokenBody })
  readonly token!: TokenBody;

  @ApiProperty({ type: PayoutsBody })
  readonly payouts!: PayoutsBody;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description:
      'How far the final block was behind the newest one, at most, in the last half hour that it was looked at; null while that is not known.',
  })
  readonly finalitySeconds!: number | null;
}
