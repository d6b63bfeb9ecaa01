import { Body, Controller, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { Answers, Fails } from '#libs/openapi';
import { SignInLimitGuard } from '#libs/sign-in';
import { ForAnyone } from './audience.js';
import { OidcStart, OidcStarted } from './auth.dto.js';
import { OidcSignIn } from './oidc-sign-in.js';

/** Sign-in by OpenID Connect: authorization code flow with PKCE. */
@Controller('api/auth/oidc')
@ForAnyone()
export class OidcController {
  constructor(private readonly oidc: OidcSignIn) {}

  @Post('start')
  @UseGuards(SignInLimitGuard)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Sign in by OpenID Connect',
    description: 'The browser goes to the URL of the answer, and comes back to `returnTo`.',
    security: [],
  })
  @Answers(200, 'Where to go.', OidcStarted)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such way here.', 'WAY_OFF')
  start(
    @Body() start: OidcStart,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OidcStarted> {
    return this.oidc.begin(reply, start);
  }

  /** The browser navigates to this route, so an error redirects to the sign-in page. */
  @Get('callback')
  @ApiExcludeEndpoint()
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const page = await this.oidc.end({ request, reply });
    await reply.redirect(page, 303);
  }
}
