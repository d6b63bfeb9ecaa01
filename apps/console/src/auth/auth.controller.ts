import { Body, Controller, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { Answers, Fails, Operation } from '#libs/openapi';
import {
  type NonceBody,
  NonceRoute,
  SignInLimitGuard,
  SiweVerifier,
  WalletSignInRoute,
} from '#libs/sign-in';
import { ConsoleSettings } from '../console.env.js';
import { ForAnyone, ForSignedIn, Session } from './audience.js';
import {
  InvitingPartnerBody,
  PartnerChoice,
  SessionBody,
  TokenDto,
  WalletSignIn,
  WaysBody,
} from './auth.dto.js';
import { OidcProvider } from './oidc-provider.js';
import { type CurrentSession, Sessions } from './sessions.js';
import { SignInService } from './sign-in.service.js';

@Controller('api/auth')
export class SessionController {
  constructor(
    private readonly sessions: Sessions,
    private readonly signIns: SignInService,
    private readonly oidc: OidcProvider,
    private readonly settings: ConsoleSettings,
  ) {}

  @Get('me')
  @ForSignedIn()
  @Operation('Who is signed in', 'With `X-Background` the session does not go on by it.')
  @Answers(200, 'The session.', SessionBody)
  me(@Session() session: CurrentSession): Promise<SessionBody> {
    return this.signIns.bodyOf(session);
  }

  @Get('ways')
  @ForAnyone()
  @ApiOperation({ summary: 'How one signs in here', description: 'What is set up.', security: [] })
  @Answers(200, 'The ways.', WaysBody)
  ways(): WaysBody {
    const { operators, portalDatabaseUrl } = this.settings;
    return {
      oidc: this.oidc.isOn,
      operatorWallets: operators !== undefined,
      partners: portalDatabaseUrl !== undefined,
    };
  }

  @Post('logout')
  @HttpCode(204)
  @ForAnyone()
  @Operation('Sign out', 'Ends the session; done as well where there is none.')
  @Answers(204, 'Signed out.')
  logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.sessions.close(request, reply);
  }

  @Post('partner')
  @HttpCode(200)
  @ForSignedIn()
  @UseGuards(SignInLimitGuard)
  @Operation(
    'Act for another partner',
    'Of those that the person is a member of; the sign-in stays as old as it is.',
  )
  @Answers(200, 'The session.', SessionBody)
  @Fails(400, 'The request is malformed.', 'BAD_REQUEST')
  @Fails(403, 'No member of that partner.', 'NOT_A_MEMBER')
  choosePartner(
    @Session() session: CurrentSession,
    @Body() { partnerId }: PartnerChoice,
  ): Promise<SessionBody> {
    return this.signIns.choosePartner(session, partnerId);
  }
}

/** Sign-in by a wallet or by a link. Each answer that opens a session sets the session's cookies. */
@Controller('api/auth')
@ForAnyone()
@UseGuards(SignInLimitGuard)
export class SignInController {
  constructor(
    private readonly signIns: SignInService,
    private readonly siwe: SiweVerifier,
  ) {}

  @NonceRoute('wallet/nonce', 'Good once and for five minutes, in one EIP-4361 message.')
  nonce(): Promise<NonceBody> {
    return this.siwe.issueNonce();
  }

  @WalletSignInRoute(
    'wallet/verify',
    SessionBody,
    'An EIP-4361 message for this origin, and the signature of its account.',
  )
  @Fails(403, 'Not for this person.', 'NOT_AN_OPERATOR', 'NOT_A_MEMBER', 'INVITATION_CLOSED')
  verify(
    @Body() { message, signature, ...wish }: WalletSignIn,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBody> {
    const verify = () => this.siwe.verify(message, signature);
    return this.signIns.signInByWallet({ request, reply }, verify, wish);
  }

  @Post('link')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Sign in by a link that does so once',
    description: 'The token is in the fragment of the link, which no log has.',
    security: [],
  })
  @Answers(200, 'The session.', SessionBody)
  @Fails(400, 'The request is malformed.', 'BAD_REQUEST')
  @Fails(403, 'The link can no longer be used.', 'LINK_CLOSED')
  link(
    @Body() { token }: TokenDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionBody> {
    return this.signIns.signInByLink({ request, reply }, token);
  }

  @Post('invitation')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Who invites',
    description: 'The invitation is accepted by signing in with it.',
    security: [],
  })
  @Answers(200, 'The partner to act for.', InvitingPartnerBody)
  @Fails(400, 'The request is malformed.', 'BAD_REQUEST')
  @Fails(403, 'The invitation can no longer be used.', 'INVITATION_CLOSED')
  invitation(@Body() { token }: TokenDto): Promise<InvitingPartnerBody> {
    return this.signIns.invitingPartner(token);
  }
}
