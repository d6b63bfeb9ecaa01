import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString, IsUUID, Matches, MaxLength } from 'class-validator';
import { type OperatorRole, type Standing } from '#libs/db';
import * as Field from '../http/fields.js';
import { OPERATOR_ROLES } from './operator-roles.js';

const KINDS = ['operator', 'partner'] as const;
const TOKEN = { type: 'string', maxLength: 100, writeOnly: true } as const;

@ApiSchema({ name: 'PartnerName' })
export class PartnerName {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly name!: string;
}

@ApiSchema({ name: 'Session' })
export class SessionBody {
  @Field.OneOf(KINDS) readonly kind!: Standing['kind'];
  @Field.Text('How they signed in, and as whom.') readonly subject!: string;
  @Field.Text() readonly name!: string;
  @Field.OneOfOrNull(OPERATOR_ROLES, 'Of operators.') readonly role!: OperatorRole | null;
  @Field.NestedOrNull(PartnerName, 'The partner that they act for now.')
  readonly partner!: PartnerName | null;
  @Field.ListOf(PartnerName, 'Those that they may act for.') readonly partners!: PartnerName[];
  @Field.Time('Without use it ends then.') readonly until!: string;
  @Field.Time('Until then the sign-in counts as fresh.') readonly freshUntil!: string;
  @Field.Text('For X-CSRF-Token.') readonly csrf!: string;
}

@ApiSchema({ name: 'Ways' })
export class WaysBody {
  @Field.Flag('By OpenID Connect.') readonly oidc!: boolean;
  @Field.Flag('Operators by wallet. Partners may always.') readonly operatorWallets!: boolean;
  @Field.Flag('Whether there are pages for partners.') readonly partners!: boolean;
}

export class WishDto {
  @Field.OneOf(KINDS)
  @IsIn(KINDS, { message: '$property must be operator or partner.' })
  readonly kind!: Standing['kind'];

  @ApiPropertyOptional({ ...TOKEN, description: 'Of an invitation, which is accepted by it.' })
  @IsOptional()
  @MaxLength(100, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly invitation?: string;
}

export class WalletSignIn extends WishDto {
  @Field.Text('An EIP-4361 message, exactly as it was signed.')
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
  @Field.Text('Where the browser goes now.') readonly url!: string;
}

export class TokenDto {
  @ApiProperty(TOKEN)
  @MaxLength(100, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly token!: string;
}

@ApiSchema({ name: 'InvitingPartner' })
export class InvitingPartnerBody {
  @Field.Nested(PartnerName) readonly partner!: PartnerName;
}

export class PartnerChoice {
  @Field.Uuid()
  @IsUUID('all', { message: '$property must be the id of a partner.' })
  readonly partnerId!: string;
}
