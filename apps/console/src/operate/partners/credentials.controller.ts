import { Body, Controller, HttpCode, Param, Post, UseInterceptors } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { CredentialExistsError, Database } from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { revokeCredential, rotateCredential } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { REFUSALS } from '../refusals.js';
import { createdCredentialId } from '../request-id.js';
import { issuedBody, IssuedBody, RevokedBody } from './partner.bodies.js';
import { NewCredentialDto, PARTNER_ID, partnerIdOf, RevocationDto } from './partner.requests.js';

/** Credentials of a partner. Several are valid at once, so that one can be replaced without an interruption. */
@Controller('api/operate/partners/:partner/credentials')
@ApiParam(PARTNER_ID)
@ForOperators('admin')
@UseInterceptors(REFUSALS)
export class CredentialsController {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
  ) {}

  @Post()
  @HttpCode(201)
  @FreshSignIn()
  @Operation(
    'Add a credential',
    'The old ones work until they are revoked. No other answer shows its secret again.',
  )
  @Answers(201, 'The credential.', IssuedBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  @Fails(409, 'This request has added its credential already.', 'ALREADY_DONE')
  async add(
    @Param('partner') text: string,
    @Body() { request }: NewCredentialDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<IssuedBody> {
    const partner = partnerIdOf(text);
    const keyRing = this.keys.keyRing(`partner rotate ${partner}`);
    const command = { actor: operator.actor, command: 'partner rotate' };
    const rotation = { partner, id: createdCredentialId(operator, partner, request) };
    try {
      return issuedBody(await rotateCredential(this.database, command, rotation, keyRing));
    } catch (error) {
      if (!(error instanceof CredentialExistsError)) throw error;
      const message =
        'This request has added its credential already, and its secret was shown then. If it is lost: add another one and revoke that.';
      throw new HttpProblem(409, message, { code: 'ALREADY_DONE' });
    }
  }

  @Post('revoke')
  @HttpCode(200)
  @FreshSignIn()
  @Operation('Revoke a credential', 'The last active one only with `force`.')
  @Answers(200, 'It is refused from now on, within seconds.', RevokedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is none.', 'PARTNER_UNKNOWN', 'CREDENTIAL_MISSING')
  @Fails(409, 'Not so.', 'CREDENTIAL_AMBIGUOUS', 'LAST_CREDENTIAL')
  async revoke(
    @Param('partner') text: string,
    @Body() { keyPrefix, force }: RevocationDto,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<RevokedBody> {
    const command = { actor, command: 'partner revoke' };
    const revocation = { partner: partnerIdOf(text), keyPrefix, force };
    const revoked = await revokeCredential(this.database, command, revocation);
    return { keyPrefix: revoked.keyPrefix, left: revoked.left };
  }
}
