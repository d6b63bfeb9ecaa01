import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString, IsUUID, Matches, MaxLength } from 'class-validator';
import { type OperatorRole, type Standing } from '#libs/db';
import { OPERATOR_ROLES } from './operator-roles.js';

const KINDS = ['operator', 'partner'] as const;
const TIME = { type: 'string', format: 'date-time' } as const;
const TOKEN = { type: 'string', maxLength: 100, writeOnly: true } as const;

@ApiSchema({ name: 'PartnerName' })
export class PartnerName {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ type: 'string' })
  readonly name!: string;
}

@ApiSchema({ name: 'Session' })
export class SessionBody {
  @ApiProperty({ enum: KINDS })
  readonly kind!: Standing['kind'];

  @ApiProperty({ type: 'string', description: 'How they signed in, and as whom.' })
  readonly subject!: string;

  @ApiProperty({ type: 'string' })
  readonly name!: string;

  @ApiProperty({ type: String, enum: OPERATOR_ROLES, nullable: true, description: 'Of operators.' })
  readonly role!: OperatorRole | null;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/PartnerName' }, { type: 'null' }],
    description: 'The partner that they act for now.',
  })
  readonly partner!: PartnerName | null;

  @ApiProperty({ type: [PartnerName], description: 'Those that they may act for.' })
  readonly partners!: PartnerName[];

  @ApiProperty({ ...TIME, description: 'Without use it ends then.' })
  readonly until!: string;

  @ApiProperty({ ...TIME, description: 'Until then the sign-in counts as fresh.' })
  readonly freshUntil!: string;

  @ApiProperty({ type: 'string', description: 'For X-CSRF-Token.' })
  readonly csrf!: string;
}

@ApiSchema({ name: 'Ways' })
export class WaysBody {
  @ApiProperty({ type: 'boolean', description: 'By OpenID Connect.' })
  readonly oidc!: boolean;

  @ApiProperty({ type: 'boolean', description: 'Operators by wallet. Partners may always.' })
  readonly operatorWallets!: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether there are pages for partners.' })
  readonly partners!: boolean;
}

export class WishDto {
  @ApiProperty({ enum: KINDS })
  @IsIn(KINDS, { message: '$property must be operator or partner.' })
  readonly kind!: Standing['kind'];

  @ApiPropertyOptional({ ...TOKEN, description: 'Of an invitation, which is accepted by it.' })
  @IsOptional()
  @MaxLength(100, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly invitation?: string;
}

export class WalletSignIn extends WishDto {
  @ApiProperty({ type: 'string', description: 'An EIP-4361 message, exactly as it was signed.' })
  @MaxLength(4096, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly message!: string;

  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-fA-F]{130}$' })
  @Matches(/^0x[0-9a-fA-F]{130}$/, {
    message: '$property must be an account’s: 0x and 130 hex digits.',
  })
  @IsString({ message: '$property must be a text.' })
  readonly signature!: string;
}

export class OidcStart extends WishDto {
  @ApiProperty({ type: 'string', maxLength: 2048, description: 'The page to go on with.' })
  @IsString({ message: '$property must be a text.' })
  readonly returnTo!: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Ask the person again.' })
  @IsOptional()
  @IsBoolean({ message: '$property must be true or false.' })
  readonly fresh?: boolean;
}

export class OidcStarted {
  @ApiProperty({ type: 'string', description: 'Where the browser goes now.' })
  readonly url!: string;
}

export class TokenDto {
  @ApiProperty(TOKEN)
  @MaxLength(100, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly token!: string;
}

@ApiSchema({ name: 'InvitingPartner' })
export class InvitingPartnerBody {
  @ApiProperty({ type: PartnerName })
  readonly partner!: PartnerName;
}

export class PartnerChoice {
  @ApiProperty({ type: 'string', format: 'uuid' })
  @IsUUID('all', { message: '$property must be the id of a partner.' })
  readonly partnerId!: string;
}
