/** Decorators that declare who may call a route. Each route of the console bears one, or its controller does. */
import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { type OperatorRole, type Person } from '#libs/db';
import { type PartnerId, PermanentError } from '#libs/domain';
import { Fails, FailsAnywhere } from '#libs/openapi';
import { actorOf } from './operators.js';
import { type Audience, AUDIENCE, AudienceGuard, FRESH } from './audience.guard.js';
import { MemberLimitGuard } from './member-limits.js';
import { type CurrentSession } from './sessions.js';

type Decorator = ClassDecorator & MethodDecorator;

/** For everyone, signed in or not: sign-in routes, and routes without confidential data. */
export function ForAnyone(): Decorator {
  return applyDecorators(
    SetMetadata(AUDIENCE, { kind: 'anyone' } satisfies Audience),
    FailsAnywhere(),
  );
}

/** For players. The redemption service, not the console, knows and checks their sessions. */
export function ForPlayers(): Decorator {
  return SetMetadata(AUDIENCE, { kind: 'player' } satisfies Audience);
}

/** For operators and partner members alike. */
export function ForSignedIn(): Decorator {
  return forSession({ kind: 'signed-in' });
}

/** For operators with this role or a higher one. */
export function ForOperators(role: OperatorRole): Decorator {
  return applyDecorators(
    forSession({ kind: 'operator', role }),
    Fails(403, 'Not for this account.', 'ROLE_TOO_LOW', 'WRONG_AUDIENCE'),
  );
}

/**
 * For members of a partner. Handlers read data as that partner, by `PortalDatabase.asPartner`. What is no GET has a
 * limit; see member-limits.ts.
 */
export function ForPartners(): Decorator {
  return applyDecorators(
    forSession({ kind: 'partner' }),
    UseGuards(MemberLimitGuard),
    Fails(403, 'Not for this account.', 'WRONG_AUDIENCE'),
  );
}

/** Demands a sign-in of the last five minutes, to move money or secrets. Goes on a method, beside the audience. */
export function FreshSignIn(): Decorator {
  return SetMetadata(FRESH, true);
}

function forSession(audience: Audience): Decorator {
  return applyDecorators(
    SetMetadata(AUDIENCE, audience),
    UseGuards(AudienceGuard),
    ApiSecurity('session'),
    Fails(401, 'Sign in.', 'SIGN_IN_NEEDED', 'SESSION_ENDED', 'FRESH_SIGN_IN_NEEDED'),
    FailsAnywhere(),
  );
}

/** The operator who sends the request. `actor` is `operator:NAME`, for the audit log. */
export interface ConsoleOperator extends Person {
  readonly role: OperatorRole;
  readonly actor: string;
}

/** The partner member who sends the request, and the partner of the session. */
export interface ConsoleMember extends Person {
  readonly partnerId: PartnerId;
}

/** A `ConsoleOperator`, on routes with `ForOperators`. */
export const CurrentOperator = createParamDecorator(
  (_: unknown, context: ExecutionContext): ConsoleOperator => {
    const { subject, name, standing } = sessionOf(context);
    if (standing.kind !== 'operator') throw noAudience();
    return { subject, name, role: standing.role, actor: actorOf({ subject, name }) };
  },
);

/** A `ConsoleMember`, on routes with `ForPartners`. */
export const CurrentMember = createParamDecorator(
  (_: unknown, context: ExecutionContext): ConsoleMember => {
    const { subject, name, standing } = sessionOf(context);
    if (standing.kind !== 'partner') throw noAudience();
    return { subject, name, partnerId: standing.partnerId };
  },
);

/** A `CurrentSession`, on routes for operators, for partners or for both. */
export const Session = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOf(context),
);

function sessionOf(context: ExecutionContext): CurrentSession {
  const { consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  if (consoleSession === undefined) throw noAudience();
  return consoleSession;
}

function noAudience(): PermanentError {
  return new PermanentError('NO_AUDIENCE', 'The route does not say who it is for.');
}
