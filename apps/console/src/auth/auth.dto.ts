import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsString, IsUUID } from 'class-validator';
import { type OperatorRole, type Standing } from '#libs/db';
import { Field } from '#libs/openapi';
import { MessageField, SignatureField } from '#libs/sign-in';
import * as Input from '../http/inputs.js';
import { OPERATOR_ROLES } from './operator-roles.js';

const KINDS = ['operator', 'partner'] as const;
const TOKEN = { maxLength: 100, writeOnly: true };

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
  @Input.OneOf(KINDS, 'be operator or partner') readonly kind!: Standing['kind'];

  @Input.Optional()
  @Input.TextUpTo(100, { ...TOKEN, description: 'Of an invitation, which is accepted by it.' })
  readonly invitation?: string;
}

export class WalletSignIn extends WishDto {
  @MessageField() readonly message!: string;

  @SignatureField(/^0x[0-9a-fA-F]{130}$/, 'an account’s: 0x and 130 hex digits')
  readonly signature!: string;
}

export class OidcStart extends WishDto {
  @ApiProperty({ type: 'string', maxLength: 2048, description: 'The page to go on with.' })
  @IsString({ message: '$property must be a text.' })
  readonly returnTo!: string;

  @Input.Optional() @Input.Flag('Ask the person again.') readonly fresh?: boolean;
}

export class OidcStarted {
  @Field.Text('Where the browser goes now.') readonly url!: string;
}

export class TokenDto {
  @Input.TextUpTo(100, TOKEN) readonly token!: string;
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
